export interface RunningWork {
  readonly during: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when nothing runs any more. */
  readonly idle: () => Promise<void>;
}

/** Knows what has been begun and not ended, whoever still waits for it. */
export function runningWork(): RunningWork {
  const running = new Set<Promise<unknown>>();
  return {
    during(work) {
      running.add(work);
      const forget = (): unknown => running.delete(work);
      work.then(forget, forget);
      return work;
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
