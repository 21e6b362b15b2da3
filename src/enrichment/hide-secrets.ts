import type { Json } from "../model/json.js";

/** Takes secrets out of whatever comes back from where they were sent. */
export interface Hiding {
  text(text: string): string;
  /** Also out of keys, and out of numbers. */
  data(data: Json): Json;
}

const mask = "[secret]";

/** Finds each secret as it is, and as it is written in URLs, in JSON, in hex and in base64. */
export function hideSecrets(secrets: readonly string[]): Hiding {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  if (spellings.size === 0) return { text: (text) => text, data: (data) => data };
  // The longest first: a shorter one may be a part of it.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(ordered.map(quoted).join("|"), "g");
  const text = (shown: string): string => shown.replace(pattern, mask);
  return { text, data: (data) => hiddenIn(data, text) };
}

function hiddenIn(data: Json, hide: (text: string) => string): Json {
  switch (typeof data) {
    case "string":
      return hide(data);
    case "number":
      return hide(String(data)) === String(data) ? data : mask;
    case "boolean":
      return data;
    default:
      if (data === null) return data;
      if (Array.isArray(data)) return (data as readonly Json[]).map((item) => hiddenIn(item, hide));
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [hide(key), hiddenIn(value, hide)]),
      );
  }
}

function spellingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Without halves of characters, which no URL can hold.
  const text = bytes.toString();
  const inUrl = [encodeURIComponent(text), new URLSearchParams([["", text]]).toString().slice(1)];
  const spellings = [
    secret,
    secret.trim(),
    JSON.stringify(secret).slice(1, -1),
    ...inUrl,
    ...inUrl.map((each) => each.replace(/%../g, (escape) => escape.toLowerCase())),
    ...inBase64(bytes),
    ...longEnough([bytes.toString("hex"), bytes.toString("hex").toUpperCase()]),
  ];
  return spellings.filter((each) => each !== "");
}

/** On its own, and within something longer: there it begins at any of three places of a group. */
function inBase64(bytes: Buffer): readonly string[] {
  const parts = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // What it shares with its neighbours is not its own.
    return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const alone = bytes.toString("base64");
  const all = [alone, alone.replace(/=+$/, ""), ...longEnough(parts)];
  return all.flatMap((text) => [text, text.replace(/\+/g, "-").replace(/\//g, "_")]);
}

/** Shorter ones stand in other data by chance, such as `61`, which is `a` in hex. */
const longEnough = (spellings: readonly string[]): readonly string[] =>
  spellings.filter(({ length }) => length >= 6);

const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
