import type { Endpoint } from "../model/endpoint.js";
import type { Doubt } from "./review-endpoints.js";

const hint = "name it by an environment variable, with `auth`";

/** Secrets that seem to stand in a definition, where everybody reads them; none is repeated. */
export function writtenSecrets(name: string, { url, headers = {}, auth }: Endpoint): readonly Doubt[] {
  const inAuth = Object.entries(auth ?? {})
    .filter(([key, value]) => key.endsWith("_key") && seemsSecret(value))
    .map(([key]) => ({
      message: `\`${key}\` of \`${name}\` seems to be a secret, and not the name of a variable`,
      hint: "put it into an environment variable, and write the name of that",
    }));
  const inHeaders = Object.entries(headers)
    .filter(([key, value]) => value !== "" && (isSecretName(key) || isSecret(value)))
    .map(([key]) => ({ message: `the header \`${key}\` of \`${name}\` seems to hold a secret`, hint }));
  const inUrl = [...new URL(url).searchParams]
    .filter(([key, value]) => value !== "" && (isSecretName(key) || isSecret(value)))
    .map(([key]) => ({ message: `\`${key}\` in the URL of \`${name}\` seems to hold a secret`, hint }));
  return [...inAuth, ...inHeaders, ...inUrl];
}

/** Whether what should be the name of an environment variable looks like what should be in it. */
export const seemsSecret = (name: string): boolean => isSecret(name) || /[a-z]\d|\d[a-z]/.test(name);

const secretNames =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|(?:^|[-_])(?:token|secret|password|passwd|pwd|signature|credentials?)$|^key$|(?:api|access|auth|private|secret|subscription)[-_]?key$/i;

const isSecretName = (name: string): boolean => secretNames.test(name.replace(/([a-z])([A-Z])/g, "$1_$2"));

/** As known services write theirs. */
const secretForms =
  /^(?:bearer|basic|token|apikey)\s+\S|^(?:sk|pk|rk)[-_]|^gh[pousr]_|^xox[a-z]-|^AKIA[0-9A-Z]{12}|^eyJ[\w-]+\./i;

const isSecret = (value: string): boolean =>
  secretForms.test(value) || /^[0-9a-f]{32,}$/i.test(value) || isRandom(value);

/** A long run in which letters of both cases and digits are mixed. */
const isRandom = (value: string): boolean =>
  /^[\w+/=-]{20,}$/.test(value) && [/[a-z]/, /[A-Z]/, /(?:\d\D*){3}/].every((kind) => kind.test(value));
