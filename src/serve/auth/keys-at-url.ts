import type { Keys, Report } from "./keys.js";
import { KeysUnreachable, watchOf } from "./keys.js";
import type { FetchTimes } from "./signature.js";
import { findFetched } from "./signature.js";
import type { KeySet } from "./usable-keys.js";
import { usableKeys, withoutKeys } from "./usable-keys.js";

const usual: FetchTimes = { timeout: 5000, cooldown: 10_000, age: 600_000 };
/** How long an issuer that failed is not asked again. */
const pauseMs = 2000;
const largestBody = 1024 * 1024;

/** Keys that the issuer serves; asked for at once, so that the first token need not wait. */
export function openKeysAtUrl(url: URL, now: () => number, report: Report, times = usual): Keys {
  const fetched = findFetched(url, fetchPatiently(url, now, report), times);
  // Whoever needs them meets the failure again.
  const refresh = (): void => void fetched.reload().catch(() => undefined);
  let known: Known = { keys: {}, text: "", edition: {} };
  refresh();
  return {
    find: fetched.find,
    edition: async () => {
      if (!fetched.fresh()) await fetched.reload();
      const held = fetched.held();
      if (held === undefined) throw new KeysUnreachable("there are no keys yet");
      if (held.keys !== known.keys) known = sameOrNew(known, held.keys);
      // Well before they are too old: an issuer that is away for a minute is not missed.
      if (now() - held.at > times.age / 2) refresh();
      return known.edition;
    },
  };
}

interface Known {
  readonly keys: object;
  readonly text: string;
  readonly edition: object;
}

/** Most often the same keys come again, and what they have verified stays so. */
function sameOrNew(known: Known, keys: object): Known {
  const text = JSON.stringify(keys);
  return { keys, text, edition: text === known.text ? known.edition : keys };
}

function fetchPatiently(
  url: URL,
  now: () => number,
  report: Report,
): (signal: AbortSignal) => Promise<KeySet> {
  const watch = watchOf(report);
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    if (now() - failedAt < pauseMs) throw new KeysUnreachable("the issuer failed a moment ago");
    try {
      const keys = usableKeys(await textAt(url, signal), url.href);
      if (keys.keys.length > 0) watch.fine();
      else watch.fault(`${withoutKeys(url.href).message}; no token counts`);
      return keys;
    } catch (cause) {
      failedAt = now();
      watch.fault((cause as Error).message);
      throw new KeysUnreachable((cause as Error).message, { cause });
    }
  };
}

async function textAt(url: URL, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal, redirect: "manual", headers: { accept } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answers with status ${response.status}`);
    }
    return await boundedText(response);
  } catch (cause) {
    throw new Error(`the keys at \`${url.href}\` cannot be fetched: ${reasonOf(cause as Error)}`, { cause });
  }
}

const accept = "application/jwk-set+json, application/json";

/** Whatever it says of its length, the bytes are counted. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > largestBody) throw new Error("its answer is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `fetch` says only that it failed; its cause says why. */
const reasonOf = (error: Error): string =>
  error.cause instanceof Error ? error.cause.message : error.message;
