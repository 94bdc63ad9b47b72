/** Bindings: descriptions of inputs as data, so that any worker can build them. */
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

/** Keys and positions, outermost first. */
export type ValuePath = readonly (string | number)[];

/** Describes how to build a value. Nodes and inputs are those of the block of the binding. */
export type Binding =
  /** The input of the block, or the part of it at `path`. */
  | { readonly from: 'input'; readonly path?: ValuePath }
  | {
      readonly from: 'node';
      /** A node of the same block; its output is the value. */
      readonly node: string;
      /** Path of a part of that output; absent: the whole output. */
      readonly path?: ValuePath;
    }
  /** A value of the definition; absent: `undefined`, which JSON does not have. */
  | { readonly from: 'constant'; readonly value?: Json }
  /** An object built of other bindings; pairs, so that every key is possible. */
  | { readonly from: 'object'; readonly members: readonly (readonly [string, Binding])[] }
  /** An array built of other bindings. */
  | { readonly from: 'array'; readonly items: readonly Binding[] };

/** Values for the bindings of a block. */
export interface BindingSource {
  /** The input of the block. */
  readonly input: () => unknown;
  /** The output of a node of the block. Throws the error for the reader when there is none. */
  readonly output: (node: string) => unknown;
}

/** Nodes that a binding reads, each once, in order of occurrence. */
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

/** Whether a binding reads the input of its block. */
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
 * Builds the value of a binding. A missing part is `undefined`, as an optional property is; a part
 * of a value that is neither object nor array is an error.
 *
 * @throws {@link InvalidPayloadError} when a path leads into a value without parts.
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
      // `fromEntries` defines properties, so `__proto__` is an ordinary key.
      return Object.fromEntries(binding.members.map(([key, part]) => [key, fill(part, source)]));
  }
}

function partOf(value: unknown, path: ValuePath | undefined, owner: string): unknown {
  let part = value;
  for (const [depth, key] of (path ?? []).entries()) {
    if (typeof part !== 'object' || part === null) {
      throw new InvalidPayloadError(pathText(path, depth), `${owner} does not have this part`);
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
