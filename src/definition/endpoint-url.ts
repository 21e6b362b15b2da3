const written = /^https?:\/\/[^/?#\\\s]+[^\\\s]*$/i;

/** What is wrong with the URL of an endpoint, as it is written; it never repeats the URL, which may hold a password. */
export function urlFault(url: string): string | undefined {
  if (/\{\{|\$\{/.test(url)) return "it is no template: give what varies as `params`";
  if (/^[a-z][a-z0-9+.-]*:/i.test(url) && !/^https?:/i.test(url))
    return "it must begin with https:// or http://";
  // A URL parser would mend what it can, and ask another place than a reader expects.
  if (!written.test(url) || !URL.canParse(url)) return "it is not a URL such as https://example.com/score";
  if (authorityOf(url).includes("@")) return "it must hold no name or password: `auth` names where they are";
  if (url.includes("#")) return "it must have no `#` part: that is never sent";
  return undefined;
}

const authorityOf = (url: string): string => /^[^:]+:\/\/([^/?#]*)/.exec(url)?.[1] ?? "";
