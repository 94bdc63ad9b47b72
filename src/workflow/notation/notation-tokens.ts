/** Tokens of the notation. */
import { NotationError } from '../../domain/errors/errors.ts';

/** A token. A `step` is a name in a text, or a hole of a template. */
export type Token =
  | { readonly kind: 'step'; readonly at: number; readonly text: string; readonly hole?: number }
  | { readonly kind: '>>' | '<<' | '|' | '(' | ')' | 'end'; readonly at: number };

const SPACE = /\s*/y;
const SIGN = />>|<<|[|()]/y;
const NAME = /[A-Za-z0-9][A-Za-z0-9._-]*/y;

/** A hole of a template, in positions and messages. */
const HOLE = '$' + '{}';

/** A text and its tokens, ending with `end`. */
export interface Tokens {
  readonly text: string;
  readonly tokens: readonly Token[];
}

/** Splits a text into tokens. @throws {@link NotationError} at the first invalid character. */
export function tokensOf(text: string): Tokens {
  const tokens: Token[] = [];
  scan(text, { from: 0, to: text.length, names: true }, tokens);
  return { text, tokens: [...tokens, { kind: 'end', at: text.length }] };
}

/** Splits a template into tokens: operators in its strings, a step in each hole. */
export function tokensOfTemplate(strings: readonly string[]): Tokens {
  const text = strings.join(HOLE);
  const tokens: Token[] = [];
  let from = 0;
  for (const [hole, part] of strings.entries()) {
    const to = from + part.length;
    scan(text, { from, to, names: false }, tokens);
    if (hole < strings.length - 1) tokens.push({ kind: 'step', at: to, text: HOLE, hole });
    from = to + HOLE.length;
  }
  return { text, tokens: [...tokens, { kind: 'end', at: text.length }] };
}

/** A token as messages show it. */
export function shownToken(token: Token): string {
  if (token.kind === 'end') return 'the end';
  return token.kind === 'step' ? `"${token.text}"` : `"${token.kind}"`;
}

function scan(
  text: string,
  part: { readonly from: number; readonly to: number; readonly names: boolean },
  tokens: Token[],
): void {
  let at = after(SPACE, text, part.from);
  while (at < part.to) {
    const sign = wordAt(SIGN, text, at);
    const name = sign === undefined && part.names ? wordAt(NAME, text, at) : undefined;
    if (sign !== undefined) tokens.push({ kind: sign as '>>', at });
    else if (name !== undefined) tokens.push({ kind: 'step', at, text: name });
    else {
      const expected = `${part.names ? 'a name, ' : ''}">>", "<<", "|", "(" or ")"`;
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      throw new NotationError(text, at, expected, JSON.stringify(character));
    }
    at = after(SPACE, text, at + (sign ?? name ?? '').length);
  }
}

function wordAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function after(pattern: RegExp, text: string, at: number): number {
  return at + (wordAt(pattern, text, at)?.length ?? 0);
}
