import type { IssuerKeys, ReportProblem, FetchTimes } from "./signature.js";
import { KeysUnreachable, reportOnce, openRemoteKeys } from "./signature.js";
import type { KeySet } from "./key-set.js";
import { parseKeySet, noUsableKeys } from "./key-set.js";
import { DecisionError } from "../../errors.js";

const defaultFetchTimes: FetchTimes = { timeout: 5000, cooldown: 10_000, maxAge: 600_000 };
/** How long an issuer that failed is not asked again. */
const retryPauseMs = 2000;
const maxBodyBytes = 1024 * 1024;

/** Keys that the issuer serves; asked for at once, so that the first token need not wait. */
export function openKeysAtUrl(
  url: URL,
  now: () => number,
  report: ReportProblem,
  times = defaultFetchTimes,
): IssuerKeys {
  const fetched = openRemoteKeys(url, fetchWithPause(url, now, report), times);
  // Whoever needs them meets the failure again.
  const refresh = (): void => void fetched.reload().catch(() => undefined);
  let known: KeyEdition = { keys: {}, text: "", edition: {} };
  refresh();
  return {
    find: fetched.find,
    edition: async () => {
      if (!fetched.isFresh()) await fetched.reload();
      const held = fetched.current();
      if (held === undefined) throw new KeysUnreachable("there are no keys yet");
      if (held.keys !== known.keys) known = nextEdition(known, held.keys);
      // Well before they are too old: an issuer that is away for a minute is not missed.
      if (now() - held.at > times.maxAge / 2) refresh();
      return known.edition;
    },
  };
}

interface KeyEdition {
  readonly keys: object;
  readonly text: string;
  readonly edition: object;
}

/** Most often the same keys come again, and what they have verified stays so. */
function nextEdition(known: KeyEdition, keys: object): KeyEdition {
  const text = JSON.stringify(keys);
  return { keys, text, edition: text === known.text ? known.edition : keys };
}

function fetchWithPause(
  url: URL,
  now: () => number,
  report: ReportProblem,
): (signal: AbortSignal) => Promise<KeySet> {
  const watch = reportOnce(report);
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    if (now() - failedAt < retryPauseMs) throw new KeysUnreachable("the issuer failed a moment ago");
    try {
      const keys = parseKeySet(await fetchText(url, signal), url.href);
      if (keys.keys.length > 0) watch.recovered();
      else watch.failed(`${noUsableKeys(url.href).message}; no token counts`);
      return keys;
    } catch (cause) {
      failedAt = now();
      watch.failed((cause as Error).message);
      throw new KeysUnreachable((cause as Error).message, { cause });
    }
  };
}

async function fetchText(url: URL, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal, redirect: "manual", headers: { accept: acceptHeader } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answers with status ${response.status}`);
    }
    return await boundedText(response);
  } catch (cause) {
    throw new Error(`the keys at \`${url.href}\` cannot be fetched: ${failureReason(cause as Error)}`, {
      cause,
    });
  }
}

const acceptHeader = "application/jwk-set+json, application/json";

/** Whatever it says of its length, the bytes are counted. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw new Error("its answer is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** `fetch` says only that it failed; its cause says why. */
const failureReason = (error: Error): string =>
  error.cause instanceof Error ? error.cause.message : error.message;

/** Where keys are served, if it is a URL at all; throws where that could be somebody else's answer. */
export function parseKeyUrl(written: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) return undefined;
  if (!URL.canParse(written)) throw unusableKeyUrl(written, "it is malformed");
  const url = new URL(written);
  if (url.username !== "" || url.password !== "") {
    throw unusableKeyUrl(`${url.protocol}//…@${url.host}`, "it holds a name or password");
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw unusableKeyUrl(written, "what it answers could be forged on the way");
}

/** The URL parser has already made `127.1` and the like into four numbers. */
const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

function unusableKeyUrl(written: string, why: string): DecisionError {
  return new DecisionError("usage", `the URL of the keys \`${written}\` cannot be used: ${why}`, {
    hint: "give an https:// URL, or http:// on this machine, or a file",
  });
}
