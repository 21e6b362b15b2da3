let turn: Promise<void> | undefined;

/**
 * Resolves when all requests that came at the same time have been read. They are decided one after the other then,
 * and answered together: to go back and forth between reading, deciding and writing takes about twice the time.
 */
export function together(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
