import type { Unauthenticated } from "./authenticate.js";
import { invalidToken, invalidRequest, missingToken } from "./authenticate.js";
import type { JsonObject } from "../../model/json.js";

/** Each would let the token say by which key it is to be judged, or that it is to be read in another way. */
const forbiddenHeaders = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"];
const acceptedTypes = ["jwt", "at+jwt"];
const maxKeyIdLength = 256;

/** What is wrong with a token on its face, before any key is asked for. */
export function tokenFormatError(token: string, algorithms: readonly string[]): Unauthenticated | undefined {
  const parts = token.split(".");
  if (parts.length === 5) return invalidToken("encrypted tokens are not accepted", signedJwtHint);
  if (parts.length !== 3 || !parts.every(isCanonical))
    return invalidToken("the token is not a signed JWT", signedJwtHint);
  const header = parseStrictObject(Buffer.from(parts[0] ?? "", "base64url"));
  if (header === undefined) return invalidToken("the header of the token is malformed");
  return headerError(header, algorithms);
}

const signedJwtHint = "send the signed JWT as its issuer gave it";
const algorithmHint = "have the issuer sign it by another, such as RS256, ES256 or EdDSA";

/** Bits beyond the last byte could be anything, and one signature be written in many ways. */
function isCanonical(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function headerError(header: JsonObject, algorithms: readonly string[]): Unauthenticated | undefined {
  const { alg, typ, kid } = header;
  const named = forbiddenHeaders.find((name) => Object.hasOwn(header, name));
  if (named !== undefined) return invalidToken(`a token with \`${named}\` in its header is not accepted`);
  if (typeof alg !== "string" || !algorithms.includes(alg)) {
    return invalidToken("the algorithm of the token is not accepted", algorithmHint);
  }
  if (typ !== undefined && !isAcceptedType(typ)) return invalidToken("a token of this type is not accepted");
  if (kid !== undefined && (typeof kid !== "string" || kid.length > maxKeyIdLength)) {
    return invalidToken("the header of the token is malformed");
  }
  return undefined;
}

const isAcceptedType = (typ: unknown): boolean =>
  typeof typ === "string" && acceptedTypes.includes(typ.toLowerCase().replace(/^application\//, ""));

const maxTokenBytes = 8 * 1024;

/** RFC 6750, section 2.1; a list of credentials is none. */
const bearerScheme = /^bearer(?: |$)/i;
const tokenSyntax = /^[A-Za-z0-9\-._~+/]+=*$/;

/** The token of an `Authorization` header. */
export function parseBearerToken(authorization: string | undefined): string | Unauthenticated {
  if (authorization === undefined || !bearerScheme.test(authorization)) return missingToken;
  const token = authorization.slice("bearer ".length);
  if (token.length > maxTokenBytes) return invalidRequest("the token is longer than 8 KiB");
  if (!tokenSyntax.test(token)) return invalidRequest("the header is not `Bearer` and one token");
  return token;
}

const maxDepth = 32;

/** A byte order mark is no JSON, so it stays for the parser to refuse. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An object in JSON that every reader understands alike: in UTF-8, no name twice, not nested deeper than 32. */
export function parseStrictObject(bytes: Uint8Array): JsonObject | undefined {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return isUnambiguous(text) ? (value as JsonObject) : undefined;
}

/** A text with what follows it, if that makes it a name; or a bracket. */
const jsonTokens = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g;

/** Of well-formed JSON, whether no object names something twice and nothing is nested too deeply. */
function isUnambiguous(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(jsonTokens)) {
    if (token === "{" || token === "[") {
      if (open.push(new Set()) > maxDepth) return false;
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (quoted !== undefined && colon !== undefined) {
      // The same name can be written in many ways.
      const name = JSON.parse(quoted) as string;
      const names = open.at(-1);
      if (names?.has(name)) return false;
      names?.add(name);
    }
  }
  return true;
}
