/** Merges the sources field by field, and checks the result. */
import { resolve as absolute, dirname } from 'node:path';
import { foreignHint } from '../base/foreign-names.ts';
import { maskedUrl } from '../base/masked-url.ts';
import { similarTo } from '../base/similar.ts';
import type { InvalidOptionError } from '../domain/errors/errors.ts';
import { type ConfigOrigin, type Given, type GivenMap, isRefused, valueIn } from './given.ts';
import { ROOT } from './options.ts';
import { gotText, type Problems, refusalOf, shownText } from './problems.ts';
import { type Dictionary, type Leaf, optionsOf, type SchemaNode, type Section } from './schema.ts';
import { Secret } from './secret.ts';
import { readAs } from './variables.ts';

/** Results besides the values. */
export interface Findings {
  readonly problems: Problems;
  /** Origin of each option with a value, by path. */
  readonly origins: Map<string, ConfigOrigin>;
  /** Each option with a value, by path. */
  readonly values: Map<string, unknown>;
  /** Latest origin of each section, by path. */
  readonly places: Map<string, ConfigOrigin>;
  /** Paths with a problem: checks that depend on them are skipped. */
  readonly spoiled: Set<string>;
}

/** Values at one path, by source: later ones take precedence. */
export type Layers = readonly Given[];

type Values = Readonly<Record<string, unknown>>;

/** Values of a section; `undefined` when it is optional and no source sets it. */
export function resolveSection(
  section: Section,
  layers: Layers,
  path: string,
  findings: Findings,
): Values | 'default' | undefined {
  const last = layers.at(-1);
  if (last === undefined && section.isOptional === true) return undefined;
  if (last !== undefined) findings.places.set(path, last.origin);
  if (section.orDefault === true && isWord(last, 'default')) {
    findings.origins.set(path, last.origin);
    findings.values.set(path, 'default');
    return 'default';
  }
  // A value that a later source resets stays reset for the sources after it.
  const taken = layers.findLastIndex(
    (given) => section.orDefault === true && isWord(given, 'default'),
  );
  const spoiledBefore = findings.spoiled.size;
  const maps = mapsOf(layers.slice(taken + 1), path, findings);
  refuseUnknown(section, maps, path, findings);
  const values = Object.entries(section.fields).map(([name, node]) => {
    const below = maps.flatMap(({ entries }) => entries.get(name)?.given ?? []);
    return [name, resolveNode(node, below, join(path, name), findings)] as const;
  });
  const present = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  // A section with a problem is not checked as a whole.
  if (findings.spoiled.size === spoiledBefore) checkTogether(section, present, path, findings);
  return present;
}

/** Adds problems that the check of a section reports. */
function checkTogether(section: Section, values: Values, path: string, findings: Findings): void {
  const { problems, spoiled, origins, places } = findings;
  const refusal = refusalOf(() => section.check?.(values));
  if (refusal === undefined) return;
  const { option, expected } = refusal;
  const at = join(path, option);
  const origin = origins.get(at) ?? nearest(at, places);
  spoiled.add(at);
  problems.add({ path: at, origin, expected, got: refusedValue(refusal) });
}

function resolveNode(node: SchemaNode, layers: Layers, path: string, findings: Findings): unknown {
  switch (node.kind) {
    case 'leaf':
      return resolveLeaf(node, layers.at(-1), path, findings);
    case 'section':
      return resolveSection(node, layers, path, findings);
    case 'dictionary':
      return resolveDictionary(node, layers, path, findings);
  }
}

function resolveDictionary(
  { of, checkKey }: Dictionary,
  layers: Layers,
  path: string,
  findings: Findings,
): Values {
  const maps = mapsOf(layers, path, findings);
  const names = new Set(maps.flatMap(({ entries }) => [...entries.keys()]));
  const values = [...names].map((name) => {
    const found = maps.flatMap(({ entries }) => entries.get(name) ?? []);
    const below = join(path, name);
    const refusal = refusalOf(() => checkKey(name));
    if (refusal !== undefined) {
      const origin = found.at(-1)?.key ?? DEFAULT;
      findings.problems.add({
        path: below,
        origin,
        expected: refusal.expected,
        got: shownText(name),
      });
    }
    const givens = found.map(({ given }) => given);
    return [name, resolveSection(of, givens, below, findings)] as const;
  });
  return Object.fromEntries(values);
}

function resolveLeaf(
  leaf: Leaf,
  given: Given | undefined,
  path: string,
  findings: Findings,
): unknown {
  if (given === undefined) {
    if (leaf.fallback === undefined) return undefined;
    findings.origins.set(path, DEFAULT);
    findings.values.set(path, leaf.fallback);
    return leaf.fallback;
  }
  findings.origins.set(path, given.origin);
  if (isRefused(given)) {
    findings.spoiled.add(path);
    return undefined;
  }
  const value = valueFor(leaf, given);
  const refusal = refusalOf(() => leaf.check(value));
  if (refusal === undefined) {
    const result = finished(leaf, value, given.origin);
    findings.values.set(path, result);
    return result;
  }
  findings.spoiled.add(path);
  findings.problems.add({ expected: refusal.expected, ...culprit(leaf, given, { path, refusal }) });
  return undefined;
}

/** The value for the check. */
function valueFor(leaf: Leaf, given: Given): unknown {
  if (given.kind !== 'value') return valueIn(given);
  if (given.value instanceof Secret) return given.value.reveal();
  return given.isText === true ? readAs(String(given.value), leaf.form) : given.value;
}

/** The value for the configuration. */
function finished(leaf: Leaf, value: unknown, origin: ConfigOrigin): unknown {
  if (typeof value !== 'string') return value;
  if (leaf.secret === 'whole') return new Secret(value);
  if (leaf.secret === 'url') return new Secret(value, maskedUrl(value));
  if (leaf.isFile !== true) return value;
  return absolute(origin.from === 'file' ? dirname(origin.file) : '.', value);
}

/** The part of a value that the check refused, if it can be determined. */
function culprit(
  leaf: Leaf,
  given: Given,
  { path, refusal }: { readonly path: string; readonly refusal: InvalidOptionError },
): { readonly path: string; readonly origin: ConfigOrigin; readonly got: string } {
  if (given.kind === 'list') {
    const isGood = (item: Given): boolean =>
      refusalOf(() => leaf.check([valueIn(item)])) === undefined;
    const at = given.items.findIndex((item) => !isGood(item));
    const item = given.items[at];
    // One item among valid ones; otherwise the problem is the number of items, or a duplicate.
    if (item !== undefined && given.items.some(isGood)) {
      return { path: `${path}[${at}]`, origin: item.origin, got: gotText(item) };
    }
    const got = refusedValue(refusal);
    return { path, origin: given.origin, got: got === 'an object' ? 'a list' : got };
  }
  if (given.kind === 'map') {
    const found = [...given.entries].find(([name]) => refusal.option.endsWith(`.${name}`));
    if (found !== undefined) {
      const [name, entry] = found;
      return { path: `${path}.${name}`, origin: entry.given.origin, got: gotText(entry.given) };
    }
  }
  return { path, origin: given.origin, got: gotText(given, leaf) };
}

/** The refused value in a check's message. */
function refusedValue({ message, option, expected }: InvalidOptionError): string {
  const got = message.slice(`${option}: expected ${expected}, got `.length);
  return got === 'undefined' ? 'nothing' : got;
}

/** The layers that are mappings; others are problems. */
function mapsOf(
  layers: Layers,
  path: string,
  { problems, spoiled }: Findings,
): readonly GivenMap[] {
  return layers.flatMap((given) => {
    if (given.kind === 'map') return given;
    spoiled.add(path);
    const { origin } = given;
    if (!isRefused(given)) {
      problems.add({ path, origin, expected: 'a mapping', got: gotText(given) });
    }
    return [];
  });
}

function refuseUnknown(
  section: Section,
  maps: readonly GivenMap[],
  path: string,
  { problems }: Findings,
): void {
  const known = [...Object.keys(section.fields), ...(section.others ?? [])];
  for (const { entries } of maps) {
    for (const [name, { key }] of entries) {
      if (known.includes(name)) continue;
      const hint = hintFor(name, known);
      const got = `the unknown ${shownText(name)}`;
      problems.add({ path: join(path, name), origin: key, expected: 'an option', got, hint });
    }
  }
}

function hintFor(name: string, known: readonly string[]): string {
  const foreign = foreignHint(name, ['config', 'code']);
  if (foreign !== undefined) return foreign;
  const similar = similarTo(name, known);
  if (similar !== undefined) return `did you mean ${similar}?`;
  const elsewhere = optionsOf(ROOT).find(({ path }) => path.endsWith(`.${name}`));
  if (elsewhere !== undefined) return `did you mean ${elsewhere.path}?`;
  return `there are ${known.join(', ')}`;
}

function nearest(path: string, places: ReadonlyMap<string, ConfigOrigin>): ConfigOrigin {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const place = places.get(at);
    if (place !== undefined) return place;
  }
  return DEFAULT;
}

const DEFAULT: ConfigOrigin = { from: 'default' };

function isWord(given: Given | undefined, word: string): given is Given {
  return given?.kind === 'value' && given.value === word;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
