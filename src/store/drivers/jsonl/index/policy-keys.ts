import type { KnownBeginning } from "./beginnings.js";
import { standsAt } from "./beginnings.js";
import type { KeyHash } from "./key-hash.js";
import { hashText, kinds } from "./key-hash.js";
import type { LineCursor } from "./line-cursor.js";

const field = Buffer.from(`,"policies":[`);
const none = Buffer.from(`,"policies":[]`);
const quote = 34;
const closing = 93;

/** Whether there are none at that place, where there were none before. */
export function hasNoPolicies(line: Buffer, at: number, end: number): boolean {
  if (at + none.length > end) return false;
  for (let index = 0; index < none.length; index++) if (line[at + index] !== none[index]) return false;
  return true;
}

/** From the end of the artifacts on; false: the line is to be parsed. */
export function takePolicies(
  cursor: LineCursor,
  known: KnownBeginning,
  { isPolicy, keys }: { readonly isPolicy: boolean; readonly keys: KeyHash[] },
): boolean {
  const { line, at: start, end } = cursor;
  // Only decisions about calls consult any: of others, it is enough to see that there are none where there were none.
  if (!isPolicy && known.policiesAt !== undefined && hasNoPolicies(line, start + known.policiesAt, end))
    return true;
  if (!cursor.seeks(field)) return false;
  known.policiesAt = cursor.at - start;
  if (cursor.sees(none)) return true;
  if (known.policies === undefined || !standsAt(cursor.line, known.policies.bytes, cursor.at, cursor.end)) {
    const bytes = wholeField(cursor);
    const names = bytes && namesIn(bytes.toString("utf8", field.length - 1));
    if (bytes === undefined || names === undefined) return false;
    known.policies = { bytes, keys: names.map((name) => hashText(kinds.policy, name)) };
  }
  keys.push(...known.policies.keys);
  return true;
}

/** A copy of the field, to its closing bracket: a policy has no lists in it. */
function wholeField({ line, at, end }: LineCursor): Buffer | undefined {
  let inText = false;
  for (let place = at + field.length; place < end; place++) {
    const byte = line[place];
    if (byte === quote) inText = !inText;
    else if (inText && byte === backslash) place++;
    else if (!inText && byte === closing) return Buffer.from(line.subarray(at, place + 1));
  }
  return undefined;
}

const backslash = 92;

/** Undefined where they are not what they should be. */
function namesIn(json: string): readonly string[] | undefined {
  try {
    const found = JSON.parse(json) as readonly { readonly name: string; readonly override: string | null }[];
    return found.flatMap(({ name, override }) => (override === null ? [name] : [name, override]));
  } catch {
    return undefined;
  }
}
