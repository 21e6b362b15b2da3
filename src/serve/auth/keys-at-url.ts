import type { IssuerKeys, ReportProblem, FetchTimes } from "./signature.js";
import { KeysUnreachable, reportOnce, openRemoteKeys } from "./signature.js";
import type { KeySet } from "./key-set.js";
import { parseKeySet, noUsableKeys } from "./key-set.js";
import { DecisionError } from "../../errors.js";

const defaultFetchTimes: FetchTimes = { timeout: 5000, cooldown: 10_000, maxAge: 600_000 };
/** The pause after a failed fetch. */
const retryPauseMs = 2000;
const maxBodyBytes = 1024 * 1024;

/** Fetches the keys from the issuer's URL: now, so that the first token does not wait, and again when they expire. */
export function openKeysAtUrl(
  url: URL,
  now: () => number,
  report: ReportProblem,
  times = defaultFetchTimes,
): IssuerKeys {
  const fetched = openRemoteKeys(url, fetchWithPause(url, now, report), times);
  // A failure is ignored here: the next token that needs the keys runs into it again.
  const refresh = (): void => void fetched.reload().catch(() => undefined);
  let latest: KeyEdition = { keys: {}, text: "", edition: {} };
  refresh();
  return {
    find: fetched.find,
    edition: async () => {
      if (!fetched.isFresh()) await fetched.reload();
      const current = fetched.current();
      if (current === undefined) throw new KeysUnreachable("no keys have been fetched yet");
      if (current.keys !== latest.keys) latest = nextEdition(latest, current.keys);
      // Refreshes long before the keys expire, so a short outage of the issuer does no harm.
      if (now() - current.at > times.maxAge / 2) refresh();
      return latest.edition;
    },
  };
}

interface KeyEdition {
  readonly keys: object;
  readonly text: string;
  readonly edition: object;
}

/** Keeps the edition, and with it the cached tokens, when the same keys are fetched again. */
function nextEdition(previous: KeyEdition, keys: object): KeyEdition {
  const text = JSON.stringify(keys);
  return { keys, text, edition: text === previous.text ? previous.edition : keys };
}

function fetchWithPause(
  url: URL,
  now: () => number,
  report: ReportProblem,
): (signal: AbortSignal) => Promise<KeySet> {
  const health = reportOnce(report);
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (signal) => {
    if (now() - failedAt < retryPauseMs) throw new KeysUnreachable("the last fetch failed moments ago");
    try {
      const keys = parseKeySet(await fetchText(url, signal), url.href);
      if (keys.keys.length > 0) health.recovered();
      else health.failed(`${noUsableKeys(url.href).message}; all tokens are rejected`);
      return keys;
    } catch (cause) {
      failedAt = now();
      health.failed((cause as Error).message);
      throw new KeysUnreachable((cause as Error).message, { cause });
    }
  };
}

async function fetchText(url: URL, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal, redirect: "manual", headers: { accept: acceptHeader } });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`the response has status ${response.status}`);
    }
    return await boundedText(response);
  } catch (cause) {
    throw new Error(`the keys at \`${url.href}\` cannot be fetched: ${failureReason(cause as Error)}`, {
      cause,
    });
  }
}

const acceptHeader = "application/jwk-set+json, application/json";

/** Counts the bytes instead of trusting `content-length`. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBodyBytes) throw new Error("the response is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The message of a failed `fetch` has no details; its cause has. */
const failureReason = (error: Error): string =>
  error.cause instanceof Error ? error.cause.message : error.message;

/** Parses the URL of a key set; undefined: `text` is a file name. Throws if the response could be forged. */
export function parseKeyUrl(text: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined;
  if (!URL.canParse(text)) throw unusableKeyUrl(text, "it is malformed");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw unusableKeyUrl(`${url.protocol}//…@${url.host}`, "it contains a user name or password");
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw unusableKeyUrl(text, "the response could be forged in transit");
}

/** The URL parser has already normalised forms such as `127.1`. */
const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

function unusableKeyUrl(text: string, reason: string): DecisionError {
  return new DecisionError("usage", `the key set URL \`${text}\` cannot be used: ${reason}`, {
    hint: "give an https:// URL, or http:// on this machine, or a file",
  });
}
