import type { Exchanged } from "./exchange.js";

export type Failure = Extract<Exchanged, { readonly kind: "timeout" | "network" | "broken" }>;

const messages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers at its address",
  ECONNRESET: "it ended the connection without an answer",
  EPIPE: "it ended the connection without an answer",
  ETIMEDOUT: "it could not be reached in time",
  EHOSTUNREACH: "there is no way to its address",
  ENETUNREACH: "there is no way to its address",
  EADDRNOTAVAIL: "there is no way to its address",
  EPROTO: "it does not speak TLS as it should",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** What an error of a request means before an answer has begun. */
export function failureOf(error: unknown): Failure {
  const code = codeOf(error);
  if (code.startsWith("HPE_")) return { kind: "broken", message: "its answer is not HTTP as it should be" };
  const known = messages[code];
  if (known !== undefined) return { kind: "network", message: known };
  if (/^ERR_(?:SSL|TLS)_/.test(code)) return { kind: "network", message: `${messages["EPROTO"]} (${code})` };
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) {
    return { kind: "network", message: `its certificate is not trusted (${code})` };
  }
  return { kind: "network", message: `the connection failed (${code})` };
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "for an unknown reason";
}
