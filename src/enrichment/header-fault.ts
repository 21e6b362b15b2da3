/** What only we may say: a wrong word of these makes another request of it, or an answer that cannot be read. */
const ours = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "proxy-connection",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "accept-encoding",
]);

/** Why a header cannot be sent; its value is never repeated. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return `\`${name}\` cannot be the name of a header`;
  if (ours.has(name.toLowerCase())) return `the header \`${name}\` cannot be chosen`;
  return isHeaderValue(value) ? undefined : `the header \`${name}\` holds what no header can carry`;
}

/** Only what is written the same in every encoding. */
export const isHeaderValue = (value: string): boolean => /^[\t\u0020-\u007e]*$/.test(value);
