import { looksLikeSecret } from "../definition/checks/check-endpoints.js";
import type { Auth } from "../model/endpoint.js";
import { isHeaderValue } from "./request.js";

export type Environment = Readonly<Record<string, string | undefined>>;

type Credentials =
  | {
      readonly ok: true;
      readonly headers: Readonly<Record<string, string>>;
      /** Values to mask in everything that comes back. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/** Builds the authentication headers from the secrets in the environment. */
export function credentialsFor(auth: Auth | undefined, env: Environment): Credentials {
  if (auth === undefined) return { ok: true, headers: {}, secrets: [] };
  for (const name of secretVariables(auth)) {
    const fault = secretFault(auth, name, env[name]);
    if (fault !== undefined) return { ok: false, message: `${variableText(name)} ${fault}` };
  }
  const secret = (name: string): string => env[name] ?? "";
  switch (auth.type) {
    case "api_key": {
      const key = secret(auth.secret_key);
      return { ok: true, headers: { [auth.header ?? "X-API-Key"]: key }, secrets: [key] };
    }
    case "bearer": {
      const token = secret(auth.token_key);
      return { ok: true, headers: { Authorization: `Bearer ${token}` }, secrets: [token] };
    }
    case "basic": {
      const [user, password] = [secret(auth.username_key), secret(auth.password_key)];
      const both = `${user}:${password}`;
      const headers = { Authorization: `Basic ${Buffer.from(both).toString("base64")}` };
      return { ok: true, headers, secrets: [both, user, password] };
    }
  }
}

/** Does not print a name that looks like a secret: it may have been written in place of the name. */
const variableText = (name: string): string =>
  looksLikeSecret(name)
    ? "the configured environment variable (its name looks like a secret)"
    : `the environment variable \`${name}\``;

/** Returns the names of the environment variables that contain the secrets. */
export function secretVariables(auth: Auth | undefined): readonly string[] {
  switch (auth?.type) {
    case undefined:
      return [];
    case "api_key":
      return [auth.secret_key];
    case "bearer":
      return [auth.token_key];
    case "basic":
      return [auth.username_key, auth.password_key];
  }
}

function secretFault(auth: Auth, name: string, value: unknown): string | undefined {
  // `process.env` inherits properties of every object, for example `constructor`.
  if (typeof value !== "string") return "is not set";
  if (value.trim() === "") return "is empty";
  if (auth.type !== "basic")
    return isHeaderValue(value) ? undefined : "contains characters that are not allowed in a header";
  if (/\p{Cc}/u.test(value)) return "contains control characters, such as a line break";
  return name === auth.username_key && value.includes(":")
    ? "contains `:`, which is not allowed in a user name"
    : undefined;
}
