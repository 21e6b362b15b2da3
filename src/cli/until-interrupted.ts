const names = ["SIGINT", "SIGTERM"] as const;

/**
 * Works until it is done or told to end, by Ctrl-C or SIGTERM; what is told is heard once, so that a second
 * time ends the process at once.
 */
export async function untilInterrupted<Outcome>(
  work: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | "interrupted"> {
  const interrupt = new AbortController();
  const forget = (): void => {
    for (const name of names) process.removeListener(name, stop);
  };
  const stop = (name: NodeJS.Signals): void => {
    forget();
    interrupt.abort(name);
  };
  for (const name of names) process.on(name, stop);
  try {
    const outcome = await work(interrupt.signal);
    if (!interrupt.signal.aborted) return outcome;
  } finally {
    forget();
  }
  // Whoever supervises us sees what it asked for: an end by this signal.
  if (interrupt.signal.reason === "SIGTERM") process.kill(process.pid, "SIGTERM");
  return "interrupted";
}
