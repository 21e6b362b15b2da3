import { constants, open } from "node:fs/promises";
import { unusableKeys, parseKeySet, noUsableKeys } from "./key-set.js";
import type { IssuerKeys, ReportProblem, FindKey } from "./signature.js";
import { reportOnce, localKeyFinder, isUnknownKey } from "./signature.js";
import { printable } from "../../text.js";

/** How long a file is taken not to have changed, and one that lacks a key not to have got it. */
const rereadPauseMs = 2000;
const maxFileBytes = 1024 * 1024;

interface LoadedKeys {
  readonly text: string;
  readonly find: FindKey;
  readonly isEmpty: boolean;
}

/**
 * Keys from a file, read again and again. Once there are good ones, a broken file does not take them away; one that
 * says that there are none does.
 */
export async function openKeysInFile(
  path: string,
  now: () => number,
  report: ReportProblem,
): Promise<IssuerKeys> {
  const watch = reportOnce(report);
  let held = parseKeys(await readKeyFile(path), path);
  if (held.isEmpty) throw noUsableKeys(path);
  let readAt = now();
  let missedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    try {
      const text = await readKeyFile(path);
      if (text !== held.text) held = parseKeys(text, path);
      if (held.isEmpty) watch.failed(`${noUsableKeys(path).message}; no token counts`);
      else watch.recovered();
    } catch (error) {
      watch.failed(`${(error as Error).message}; those it held before still count`);
    }
    readAt = now();
  };
  const readAgain = (): Promise<void> => (reading ??= read().finally(() => (reading = undefined)));

  return {
    edition: async () => {
      if (now() - readAt >= rereadPauseMs) await readAgain();
      return held;
    },
    find: async (header, token) => {
      try {
        return await held.find(header, token);
      } catch (error) {
        if (!isUnknownKey(error) || now() - missedAt < rereadPauseMs) throw error;
      }
      missedAt = now();
      await readAgain();
      return held.find(header, token);
    },
  };
}

function parseKeys(text: string, path: string): LoadedKeys {
  const set = parseKeySet(text, path);
  return { text, find: localKeyFinder(set), isEmpty: set.keys.length === 0 };
}

async function readKeyFile(path: string): Promise<string> {
  let file;
  try {
    // To open a pipe would otherwise wait for somebody to write into it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("it is not a file");
    if (stats.size > maxFileBytes) throw new Error("it is larger than 1 MiB");
    return await file.readFile("utf8");
  } catch (cause) {
    throw unusableKeys(path, printable((cause as Error).message), { cause });
  } finally {
    await file?.close();
  }
}
