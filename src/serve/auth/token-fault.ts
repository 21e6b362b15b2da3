import type { JsonObject } from "../../model/json.js";
import type { Unauthenticated } from "./authenticate.js";
import { invalidToken } from "./refusal.js";
import { strictObject } from "./strict-json.js";

/** Each would let the token say by which key it is to be judged, or that it is to be read in another way. */
const forbidden = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"];
const kinds = ["jwt", "at+jwt"];
const longestKid = 256;

/** What is wrong with a token on its face, before any key is asked for. */
export function tokenFault(token: string, algorithms: readonly string[]): Unauthenticated | undefined {
  const parts = token.split(".");
  if (parts.length === 5) return invalidToken("encrypted tokens are not accepted", signedJwt);
  if (parts.length !== 3 || !parts.every(isCanonical))
    return invalidToken("the token is not a signed JWT", signedJwt);
  const header = strictObject(Buffer.from(parts[0] ?? "", "base64url"));
  if (header === undefined) return invalidToken("the header of the token is malformed");
  return headerFault(header, algorithms);
}

const signedJwt = "send the signed JWT as its issuer gave it";
const otherAlgorithm = "have the issuer sign it by another, such as RS256, ES256 or EdDSA";

/** Bits beyond the last byte could be anything, and one signature be written in many ways. */
function isCanonical(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function headerFault(header: JsonObject, algorithms: readonly string[]): Unauthenticated | undefined {
  const { alg, typ, kid } = header;
  const named = forbidden.find((name) => Object.hasOwn(header, name));
  if (named !== undefined) return invalidToken(`a token with \`${named}\` in its header is not accepted`);
  if (typeof alg !== "string" || !algorithms.includes(alg)) {
    return invalidToken("the algorithm of the token is not accepted", otherAlgorithm);
  }
  if (typ !== undefined && !isAccepted(typ)) return invalidToken("a token of this type is not accepted");
  if (kid !== undefined && (typeof kid !== "string" || kid.length > longestKid)) {
    return invalidToken("the header of the token is malformed");
  }
  return undefined;
}

const isAccepted = (typ: unknown): boolean =>
  typeof typ === "string" && kinds.includes(typ.toLowerCase().replace(/^application\//, ""));
