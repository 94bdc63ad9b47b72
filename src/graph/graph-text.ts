/** Text format of graphs, whose hash identifies them. */

import { canonicalJson } from '../base/canonical-json.ts';
import { isRecord } from '../base/records.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { TaskGraph } from './graph.ts';
import { checkGraph } from './graph-check.ts';
import { checkStart } from './graph-start.ts';

/** Separates hashes of graphs from hashes of other texts. */
const HEAD = 'fairloom-graph\n';

/** The text of a graph: its SHA-256 is the name under which the graph is stored. */
export function graphText(graph: TaskGraph): string {
  return `${HEAD}${canonicalJson(graph)}`;
}

/**
 * Reads a text of {@link graphText}; the graph is frozen. Checks all of it, since it may come from
 * another version or from a file.
 *
 * @throws {@link InvalidPayloadError} when the text is not a graph of this version.
 * @throws the errors of {@link checkGraph}.
 */
export function readGraph(text: string): TaskGraph {
  if (!text.startsWith(HEAD)) throw new InvalidPayloadError('$', 'is not a graph');
  const value = parsed(text.slice(HEAD.length));
  const graph = object(value, '$');
  if (graph['format'] !== 1) throw new InvalidPayloadError('$.format', 'has another version');
  string(graph['name'], '$.name');
  block(value, '$', 0);
  const whole = value as TaskGraph;
  checkGraph(whole);
  if (graph['start'] !== undefined) {
    string(graph['start'], '$.start');
    checkStart(whole);
  }
  freeze(whole);
  return whole;
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidPayloadError('$', 'is not JSON');
  }
}

function block(value: unknown, path: string, depth: number): void {
  if (depth > LIMITS.graphDepth) {
    throw new InvalidPayloadError(path, `is nested deeper than ${LIMITS.graphDepth}`);
  }
  const { nodes, output } = object(value, path);
  binding(output, `${path}.output`, 0);
  for (const [at, one] of array(nodes, `${path}.nodes`).entries()) {
    node(object(one, `${path}.nodes[${at}]`), `${path}.nodes[${at}]`, depth);
  }
}

function node(fields: Fields, path: string, depth: number): void {
  string(fields['id'], `${path}.id`);
  binding(fields['input'], `${path}.input`, 0);
  texts(fields['after'], `${path}.after`);
  switch (fields['kind']) {
    case 'task':
      task(fields, path);
      return;
    case 'block':
      block(fields['block'], `${path}.block`, depth + 1);
      return;
    case 'each':
      group(fields, path);
      block(fields['block'], `${path}.block`, depth + 1);
      return;
    case 'parallel':
      group(fields, path);
      oneOf(fields['shape'], ['record', 'tuple'], `${path}.shape`);
      for (const [at, one] of array(fields['members'], `${path}.members`).entries()) {
        const member = object(one, `${path}.members[${at}]`);
        string(member['key'], `${path}.members[${at}].key`);
        block(member['block'], `${path}.members[${at}].block`, depth + 1);
      }
      return;
    default:
      throw new InvalidPayloadError(`${path}.kind`, 'is not a kind of node');
  }
}

function task(fields: Fields, path: string): void {
  string(fields['task'], `${path}.task`);
  object(fields['options'], `${path}.options`);
  if (fields['version'] !== undefined) string(fields['version'], `${path}.version`);
  if (fields['versioning'] !== undefined)
    oneOf(fields['versioning'], ['latest'], `${path}.versioning`);
  if (fields['dynamic'] === undefined) return;
  const { maxCycles } = object(fields['dynamic'], `${path}.dynamic`);
  count(maxCycles, `${path}.dynamic.maxCycles`);
}

function group(fields: Fields, path: string): void {
  const policy = object(fields['policy'], `${path}.policy`);
  const kinds = ['strict', 'bestEffort', 'atLeast', 'critical', 'registered'];
  oneOf(policy['kind'], kinds, `${path}.policy.kind`);
  if (policy['kind'] === 'atLeast') count(policy['count'], `${path}.policy.count`);
  if (policy['kind'] === 'critical') texts(policy['members'], `${path}.policy.members`);
  if (policy['kind'] === 'registered') string(policy['name'], `${path}.policy.name`);
  oneOf(fields['failFast'], [true, false], `${path}.failFast`);
  for (const name of ['concurrency', 'timeoutMs']) {
    if (fields[name] !== undefined) count(fields[name], `${path}.${name}`);
  }
}

function binding(value: unknown, path: string, depth: number): void {
  // One more than in a flow: the value itself may be on the last level.
  if (depth > LIMITS.graphDepth + 1) {
    throw new InvalidPayloadError(path, `is nested deeper than ${LIMITS.graphDepth}`);
  }
  const fields = object(value, path);
  if (fields['path'] !== undefined) {
    const keys = array(fields['path'], `${path}.path`);
    const isPath = keys.every((key) => typeof key === 'string' || typeof key === 'number');
    if (!isPath) throw new InvalidPayloadError(`${path}.path`, 'is not a list of keys');
  }
  switch (fields['from']) {
    case 'input':
    case 'constant':
      return;
    case 'node':
      string(fields['node'], `${path}.node`);
      return;
    case 'array':
      for (const [at, item] of array(fields['items'], `${path}.items`).entries()) {
        binding(item, `${path}.items[${at}]`, depth + 1);
      }
      return;
    case 'object':
      for (const [at, one] of array(fields['members'], `${path}.members`).entries()) {
        const [key, part] = array(one, `${path}.members[${at}]`);
        string(key, `${path}.members[${at}][0]`);
        binding(part, `${path}.members[${at}][1]`, depth + 1);
      }
      return;
    default:
      throw new InvalidPayloadError(`${path}.from`, 'is not a kind of binding');
  }
}

function object(value: unknown, path: string): Fields {
  if (isRecord(value) && !Array.isArray(value)) return value;
  throw new InvalidPayloadError(path, 'is not an object');
}

function array(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new InvalidPayloadError(path, 'is not a list');
}

function string(value: unknown, path: string): void {
  if (typeof value !== 'string') throw new InvalidPayloadError(path, 'is not a text');
}

function texts(value: unknown, path: string): void {
  for (const [at, one] of array(value, path).entries()) string(one, `${path}[${at}]`);
}

function count(value: unknown, path: string): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return;
  throw new InvalidPayloadError(path, 'is not a whole number from 0');
}

function oneOf(value: unknown, known: readonly unknown[], path: string): void {
  if (!known.includes(value)) throw new InvalidPayloadError(path, 'is unknown');
}

/** Freezes a JSON value deeply. */
function freeze(value: object): void {
  const left: object[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    Object.freeze(next);
    for (const part of Object.values(next)) if (isRecord(part)) left.push(part);
  }
}
