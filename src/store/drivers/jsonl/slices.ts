/** Runs a long task, which yields from time to time, to its end. */
export function runToEnd<T>(task: Generator<void, T>): T {
  for (;;) {
    const { done, value } = task.next();
    if (done) return value;
  }
}

/** Runs a long task without blocking the event loop for longer than it takes to yield. */
export async function runInSlices<T>(task: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = task.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
