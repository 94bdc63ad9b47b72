import { isMap, isNode, isScalar, isSeq, parseDocument, stringify } from 'yaml';
import { isPlainObject } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Config } from './config-types.ts';
import { type ConfigOrigin, originText } from './given.ts';
import { Secret } from './secret.ts';
import { escaped } from './variables.ts';

/** Options of the YAML text. */
export interface ToYamlOptions {
  /** True: secrets in plain text. Default false: masks, which cannot be loaded again. */
  readonly reveal?: boolean | undefined;
}

const KEYS: OptionKeys<ToYamlOptions> = keysOf<ToYamlOptions>()({ reveal: true });

/** Long texts are not folded. */
const STYLE = { lineWidth: 0 };

/**
 * A configuration as YAML, with its defaults. With `reveal` loading the text gives the same
 * configuration.
 *
 * @throws `InvalidOptionError` for an invalid configuration.
 */
export function toYaml(config: Config, options: ToYamlOptions = {}): string {
  checkOptions('toYaml', options, KEYS);
  if (!isPlainObject(config)) throw new InvalidOptionError('config', 'a configuration', config);
  return stringify(written(config, options.reveal === true), STYLE);
}

/** The same with masks, and a comment behind each value with its origin. */
export function toYamlWithOrigins(loaded: {
  readonly config: Config;
  readonly origins: ReadonlyMap<string, ConfigOrigin>;
}): string {
  const document = parseDocument(toYaml(loaded.config));
  comment(document.contents, '', loaded.origins);
  return document.toString(STYLE);
}

function comment(node: unknown, path: string, origins: ReadonlyMap<string, ConfigOrigin>): void {
  const origin = origins.get(path);
  if (origin !== undefined) {
    const text = ` ${originText(origin)}`;
    if (isScalar(node)) node.comment = text;
    // A list or mapping has its comment above its first item.
    else if (isNode(node)) node.commentBefore = text;
    return;
  }
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) comment(item, `${path}[${index}]`, origins);
  }
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : '';
    comment(value, path === '' ? name : `${path}.${name}`, origins);
  }
}

function written(value: unknown, reveal: boolean): unknown {
  if (value instanceof Secret) return reveal ? escaped(value.reveal()) : String(value);
  if (typeof value === 'string') return escaped(value);
  if (Array.isArray(value)) return value.map((item: unknown) => written(item, reveal));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value)
    .map(([key, item]): [string, unknown] => [key, written(item, reveal)])
    .filter(([, item]) => item !== undefined);
  return new Map(entries);
}
