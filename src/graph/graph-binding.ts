/** Where an input comes from: data, so that any worker can build it. */
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import { shownNode } from '../domain/task/node-name.ts';

/** A value that JSON can hold. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Keys and positions, from the outside in. */
export type ValuePath = readonly (string | number)[];

/** The recipe of a value. Nodes and inputs are those of the block in which the binding stands. */
export type Binding =
  /** What the block was given, or the part of it to which the path leads. */
  | { readonly from: 'input'; readonly path?: ValuePath }
  | {
      readonly from: 'node';
      /** Of the same block: its output is the value. */
      readonly node: string;
      /** Leads to the part of that output which is; absent: all of it is. */
      readonly path?: ValuePath;
    }
  /** A value of the definition; absent: `undefined`, which JSON has not. */
  | { readonly from: 'constant'; readonly value?: Json }
  /** Built of others: pairs, so that no key is special. */
  | { readonly from: 'object'; readonly members: readonly (readonly [string, Binding])[] }
  /** Built of others, in order. */
  | { readonly from: 'array'; readonly items: readonly Binding[] };

/** What a binding is filled with. */
export interface BindingSource {
  /** What the block was given. */
  readonly input: () => unknown;
  /** The output of a node of the block. Throws what the reader should see when there is none. */
  readonly output: (node: string) => unknown;
}

/** Nodes that a binding reads, each once, in the order in which they are met. */
export function nodesRead(binding: Binding): readonly string[] {
  const nodes = new Set<string>();
  const left: Binding[] = [binding];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.from === 'node') nodes.add(next.node);
    if (next.from === 'array') for (const item of next.items.toReversed()) left.push(item);
    if (next.from === 'object') for (const [, part] of next.members.toReversed()) left.push(part);
  }
  return [...nodes];
}

/** Whether a binding reads what its block was given. */
export function readsInput(binding: Binding): boolean {
  const left: Binding[] = [binding];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (next.from === 'input') return true;
    if (next.from === 'array') for (const item of next.items) left.push(item);
    if (next.from === 'object') for (const [, part] of next.members) left.push(part);
  }
  return false;
}

/**
 * Builds the value of a binding. A part that is not there is `undefined`, as an optional property
 * is; a part *of* something that is no object or array is an error, never a silent `undefined`.
 *
 * @throws {@link InvalidPayloadError} when a path leads into something that has no parts.
 */
export function fill(binding: Binding, source: BindingSource): unknown {
  switch (binding.from) {
    case 'input':
      return partOf(source.input(), binding.path, 'the input');
    case 'node':
      return partOf(
        source.output(binding.node),
        binding.path,
        `the output of ${shownNode(binding.node)}`,
      );
    case 'constant':
      return binding.value;
    case 'array':
      return binding.items.map((item) => fill(item, source));
    case 'object':
      // Defines properties, so that a key named `__proto__` is one like any other.
      return Object.fromEntries(binding.members.map(([key, part]) => [key, fill(part, source)]));
  }
}

function partOf(value: unknown, path: ValuePath | undefined, whose: string): unknown {
  let part = value;
  for (const [depth, key] of (path ?? []).entries()) {
    if (typeof part !== 'object' || part === null) {
      throw new InvalidPayloadError(pathText(path, depth), `${whose} has no such part`);
    }
    part = Object.hasOwn(part, key) ? Reflect.get(part, key) : undefined;
  }
  return part;
}

function pathText(path: ValuePath | undefined, depth: number): string {
  return (path ?? [])
    .slice(0, depth + 1)
    .reduce<string>(
      (text, key) => `${text}${typeof key === 'number' ? `[${key}]` : `.${key}`}`,
      '$',
    );
}
