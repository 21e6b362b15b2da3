import type { LogLine } from "../../../model/store.js";
import type { OpenReader, Reader, ReaderOptions } from "./log-reader.js";

/** The same as `openReader`, but what reads is loaded when something is asked: most decisions only write. */
export function lazyReader(log: string, options: ReaderOptions): OpenReader {
  let opened: OpenReader | undefined;
  let opening: Promise<OpenReader> | undefined;
  const open = (): Promise<OpenReader> =>
    (opening ??= import("./log-reader.js").then(({ openReader }) => (opened = openReader(log, options))));
  const ask = async <T>(question: (reader: Reader) => T): Promise<Awaited<T>> =>
    await question((opened ?? (await open())).reader);
  const lines = (question: (reader: Reader) => AsyncIterable<LogLine>): AsyncIterable<LogLine> =>
    opened === undefined ? deferred(async () => question((await open()).reader)) : question(opened.reader);
  return {
    reader: {
      state: () => ask((reader) => reader.state()),
      select: (...asked) => lines((reader) => reader.select(...asked)),
      related: (...asked) => lines((reader) => reader.related(...asked)),
      neighbours: (...asked) => ask((reader) => reader.neighbours(...asked)),
      find: (reference) => ask((reader) => reader.find(reference)),
      tally: (...asked) => ask((reader) => reader.tally(...asked)),
      prunable: (bound) => ask((reader) => reader.prunable(bound)),
      cacheUse: () => ask((reader) => reader.cacheUse()),
    },
    living: { tell: (news) => opened?.living.tell(news) },
    close: () => opened?.close(),
  };
}

/** What is found once somebody begins to look through it; without a layer of its own on every item. */
function deferred<Item>(find: () => Promise<AsyncIterable<Item>>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      let found: AsyncIterator<Item> | undefined;
      return {
        async next() {
          found ??= (await find())[Symbol.asyncIterator]();
          return await found.next();
        },
        async return() {
          await found?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
