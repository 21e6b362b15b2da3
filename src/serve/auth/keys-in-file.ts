import { constants, open } from "node:fs/promises";
import { unusableKeys, parseKeySet, noUsableKeys } from "./key-set.js";
import type { IssuerKeys, ReportProblem, FindKey } from "./signature.js";
import { reportOnce, localKeyFinder, isUnknownKey } from "./signature.js";
import { printable } from "../../text.js";

/** The pause before the file is read again, also after a token names an unknown key. */
const rereadPauseMs = 2000;
const maxFileBytes = 1024 * 1024;

interface LoadedKeys {
  readonly text: string;
  readonly find: FindKey;
  readonly isEmpty: boolean;
}

/**
 * Reads the keys from a file, again whenever it changes. A broken file leaves the previous keys in use; a valid file
 * without keys revokes them.
 */
export async function openKeysInFile(
  path: string,
  now: () => number,
  report: ReportProblem,
): Promise<IssuerKeys> {
  const health = reportOnce(report);
  let current = parseKeys(await readKeyFile(path), path);
  if (current.isEmpty) throw noUsableKeys(path);
  let readAt = now();
  let missedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    try {
      const text = await readKeyFile(path);
      if (text !== current.text) current = parseKeys(text, path);
      if (current.isEmpty) health.failed(`${noUsableKeys(path).message}; all tokens are rejected`);
      else health.recovered();
    } catch (error) {
      health.failed(`${(error as Error).message}; the previous keys stay in use`);
    }
    readAt = now();
  };
  const readAgain = (): Promise<void> => (reading ??= read().finally(() => (reading = undefined)));

  return {
    edition: async () => {
      if (now() - readAt >= rereadPauseMs) await readAgain();
      return current;
    },
    find: async (header, token) => {
      try {
        return await current.find(header, token);
      } catch (error) {
        if (!isUnknownKey(error) || now() - missedAt < rereadPauseMs) throw error;
      }
      missedAt = now();
      await readAgain();
      return current.find(header, token);
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
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
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
