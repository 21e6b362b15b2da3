import { looksLikeSecret } from "../definition/checks/check-endpoints.js";
import type { Auth } from "../model/endpoint.js";
import { isHeaderValue } from "./request.js";

export type Environment = Readonly<Record<string, string | undefined>>;

type Credentials =
  | {
      readonly ok: true;
      readonly headers: Readonly<Record<string, string>>;
      /** What nobody may be shown. */
      readonly secrets: readonly string[];
    }
  | { readonly ok: false; readonly message: string };

/** The headers that show who asks; what they hold comes from the environment. */
export function credentialsFor(auth: Auth | undefined, env: Environment): Credentials {
  if (auth === undefined) return { ok: true, headers: {}, secrets: [] };
  for (const name of secretVariables(auth)) {
    const fault = secretFault(auth, name, env[name]);
    if (fault !== undefined) {
      return { ok: false, message: `${variableText(name)} ${fault}` };
    }
  }
  const given = (name: string): string => env[name] ?? "";
  switch (auth.type) {
    case "api_key": {
      const key = given(auth.secret_key);
      return { ok: true, headers: { [auth.header ?? "X-API-Key"]: key }, secrets: [key] };
    }
    case "bearer": {
      const token = given(auth.token_key);
      return { ok: true, headers: { Authorization: `Bearer ${token}` }, secrets: [token] };
    }
    case "basic": {
      const [user, password] = [given(auth.username_key), given(auth.password_key)];
      const both = `${user}:${password}`;
      const headers = { Authorization: `Basic ${Buffer.from(both).toString("base64")}` };
      return { ok: true, headers, secrets: [both, user, password] };
    }
  }
}

/** Somebody may have written the secret itself in place of its name. */
const variableText = (name: string): string =>
  looksLikeSecret(name)
    ? "the environment variable that it names (which looks like a secret itself)"
    : `the environment variable \`${name}\``;

/** The environment variables that hold its secrets. */
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
  // `process.env` inherits what every object has, such as `constructor`.
  if (typeof value !== "string") return "is not set";
  if (value.trim() === "") return "is empty";
  if (auth.type !== "basic") return isHeaderValue(value) ? undefined : "holds what no header can carry";
  if (/\p{Cc}/u.test(value)) return "holds control characters, such as a line break";
  return name === auth.username_key && value.includes(":")
    ? "holds a `:`, which no user name may"
    : undefined;
}
