/** What a secret is shown as. */
export const MASK = '***';

/** One `@`, and nothing before it that could belong to a path or a query: what it parts is certain. */
const USUAL_FORM = /^([a-z]+:\/\/)([^:@/?#\s]*)(?::[^@/?#\s]*)?@([^@/?#\s]*(?:\/\d*)?)$/i;

/**
 * A URL without its password, for messages, logs and listings: the only place that masks. Where it is
 * not certain which part the password is, nothing of the text is shown.
 */
export function maskedUrl(text: string): string {
  if (text.startsWith('/') && !text.includes('?')) return text;
  // Without slashes anything with a colon would be one: a password, too.
  if (!/^[a-z]+:\/\//i.test(text)) return MASK;
  if (!URL.canParse(text)) return maskedText(text);
  const url = new URL(text);
  // Of a password with `#`, `?` or `/` in it, what follows stands here.
  if (url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) return MASK;
  if (url.password !== '') url.password = MASK;
  for (const name of url.searchParams.keys()) {
    // The client takes any of its options from here, and some of them are secrets.
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, MASK);
  }
  return url.href;
}

/** Of a text that is no URL, as one with a port that is none. */
function maskedText(text: string): string {
  const [, scheme, user = '', rest] = USUAL_FORM.exec(text) ?? [];
  return scheme === undefined ? MASK : `${scheme}${user}:${MASK}@${rest}`;
}
