/** Does one thing after the other; what is asked for meanwhile is done together. */
export function gathered<Item>(
  work: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: Item[] = [];
  let next: Promise<void> | undefined;
  let underWay: Promise<void> = Promise.resolve();
  return (item) => {
    waiting.push(item);
    next ??= underWay.then(() => {
      const items = waiting;
      waiting = [];
      next = undefined;
      const done = work(items);
      underWay = done.catch(() => undefined);
      return done;
    });
    return next;
  };
}
