import { constants, open } from "node:fs/promises";
import { printable } from "../../printable.js";
import type { Keys, Report } from "./keys.js";
import { watchOf } from "./keys.js";
import type { FindKey } from "./signature.js";
import { findIn, isUnknownKey } from "./signature.js";
import { unusable, usableKeys, withoutKeys } from "./usable-keys.js";

/** How long a file is taken not to have changed, and one that lacks a key not to have got it. */
const pauseMs = 2000;
const largestFile = 1024 * 1024;

interface Held {
  readonly text: string;
  readonly find: FindKey;
  readonly isEmpty: boolean;
}

/**
 * Keys from a file, read again and again. Once there are good ones, a broken file does not take them away; one that
 * says that there are none does.
 */
export async function openKeysInFile(path: string, now: () => number, report: Report): Promise<Keys> {
  const watch = watchOf(report);
  let held = keysOf(await textOf(path), path);
  if (held.isEmpty) throw withoutKeys(path);
  let readAt = now();
  let missedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    try {
      const text = await textOf(path);
      if (text !== held.text) held = keysOf(text, path);
      if (held.isEmpty) watch.fault(`${withoutKeys(path).message}; no token counts`);
      else watch.fine();
    } catch (error) {
      watch.fault(`${(error as Error).message}; those it held before still count`);
    }
    readAt = now();
  };
  const readAgain = (): Promise<void> => (reading ??= read().finally(() => (reading = undefined)));

  return {
    edition: async () => {
      if (now() - readAt >= pauseMs) await readAgain();
      return held;
    },
    find: async (header, token) => {
      try {
        return await held.find(header, token);
      } catch (error) {
        if (!isUnknownKey(error) || now() - missedAt < pauseMs) throw error;
      }
      missedAt = now();
      await readAgain();
      return held.find(header, token);
    },
  };
}

function keysOf(text: string, path: string): Held {
  const set = usableKeys(text, path);
  return { text, find: findIn(set), isEmpty: set.keys.length === 0 };
}

async function textOf(path: string): Promise<string> {
  let file;
  try {
    // To open a pipe would otherwise wait for somebody to write into it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("it is not a file");
    if (stats.size > largestFile) throw new Error("it is larger than 1 MiB");
    return await file.readFile("utf8");
  } catch (cause) {
    throw unusable(path, printable((cause as Error).message), { cause });
  } finally {
    await file?.close();
  }
}
