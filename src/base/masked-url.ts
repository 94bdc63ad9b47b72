/** Replaces a secret. */
export const MASK = '***';

/** One `@`, and nothing before it that could be a path or a query: the parts are unambiguous. */
const USUAL_FORM = /^([a-z]+:\/\/)([^:@/?#\s]*)(?::[^@/?#\s]*)?@([^@/?#\s]*(?:\/\d*)?)$/i;

/**
 * A URL without its password, for messages, logs and listings: the only code that masks. Where the
 * password cannot be located for certain, the whole text is masked.
 */
export function maskedUrl(text: string): string {
  if (text.startsWith('/') && !text.includes('?')) return text;
  // Without slashes any text with a colon would be a URL: a password, too.
  if (!/^[a-z]+:\/\//i.test(text)) return MASK;
  if (!URL.canParse(text)) return maskedText(text);
  const url = new URL(text);
  // Part of a password with `#`, `?` or `/` in it is parsed as one of these.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) return MASK;
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) {
    // The client reads options from the query, some of which are secrets.
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}

/** For a text that is no URL, such as one with an invalid port. */
function maskedText(text: string): string {
  const [, scheme, user = '', rest] = USUAL_FORM.exec(text) ?? [];
  return scheme === undefined ? MASK : `${scheme}${user}:${MASK}@${rest}`;
}
