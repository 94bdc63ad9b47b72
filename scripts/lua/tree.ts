/** A Lua text as a tree, walked with what is known at each place. */
import luaparse, { type Node } from 'luaparse';

/** Where something stands, and what the places around it declare. */
export interface Place {
  readonly node: LuaNode;
  /** From the outermost to the one right around it. */
  readonly parents: readonly LuaNode[];
  /** Locals that are known here, by name, each with what declares it. */
  readonly locals: Locals;
}

export type Locals = ReadonlyMap<string, LuaNode>;

export type LuaNode = Node & { readonly range: readonly [number, number] };

export type OfType<Type extends LuaNode['type']> = Extract<LuaNode, { type: Type }> & LuaNode;

/** Other text in place of some. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export function parseLua(text: string): LuaNode {
  return luaparse.parse(text, {
    ranges: true,
    comments: false,
    luaVersion: '5.1',
    encodingMode: 'none',
  }) as Node as LuaNode;
}

/** All nodes in the order of the text, each with the locals that are known where it stands. */
export function places(root: LuaNode): readonly Place[] {
  const found: Place[] = [];
  visit(root, [], new Map(), found);
  return found;
}

/** All nodes in the order of the text. */
export function nodesIn(root: LuaNode): readonly LuaNode[] {
  return [root, ...childrenOf(root).flatMap(nodesIn)];
}

/** Whether an identifier reads or sets a variable: it is no field, and declares nothing. */
export function isVariable(place: Place): boolean {
  return place.node.type === 'Identifier' && !isField(place) && !isDeclared(place);
}

/** Whether an identifier names a field of a table. */
export function isField({ node, parents }: Place): boolean {
  const parent = parents.at(-1);
  if (parent?.type === 'MemberExpression') return parent.identifier === node;
  return parent?.type === 'TableKeyString' && parent.key === node;
}

/** Whether an identifier declares a local. */
export function isDeclared({ node, parents }: Place): boolean {
  const parent = parents.at(-1);
  switch (parent?.type) {
    case 'LocalStatement':
    case 'ForGenericStatement':
      return node.type === 'Identifier' && parent.variables.includes(node);
    case 'ForNumericStatement':
      return parent.variable === node;
    case 'FunctionDeclaration':
      return node.type === 'Identifier';
    default:
      return false;
  }
}

/** Nodes right below one, in the order in which what they declare is known. */
function childrenOf(node: LuaNode): readonly LuaNode[] {
  const parts: readonly unknown[] =
    node.type === 'RepeatStatement' ? [node.body, node.condition] : Object.values(node);
  const children: LuaNode[] = [];
  for (const part of parts) {
    if (Array.isArray(part)) children.push(...part.filter(isNode));
    else if (isNode(part)) children.push(part);
  }
  return children;
}

function isNode(value: unknown): value is LuaNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'range' in value;
}

function visit(node: LuaNode, parents: readonly LuaNode[], known: Locals, found: Place[]): void {
  found.push({ node, parents, locals: known });
  const below = [...parents, node];
  const heads = headsOf(node);
  let locals = withNames(known, declaredInside(node), node);
  for (const child of childrenOf(node)) {
    visit(child, below, heads.includes(child) ? known : locals, found);
    locals = withNames(locals, declaredBehind(child), child);
  }
}

function withNames(locals: Locals, names: readonly string[], by: LuaNode): Locals {
  if (names.length === 0) return locals;
  return new Map([...locals, ...names.map((name): [string, LuaNode] => [name, by])]);
}

/** Locals of a node that are known in its body. */
function declaredInside(node: LuaNode): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
      return node.parameters.flatMap((one) => (one.type === 'Identifier' ? [one.name] : []));
    case 'ForNumericStatement':
      return [node.variable.name];
    case 'ForGenericStatement':
      return node.variables.map(({ name }) => name);
    default:
      return [];
  }
}

/** Locals that a statement leaves to those behind it. */
function declaredBehind(node: LuaNode): readonly string[] {
  if (node.type === 'LocalStatement') return node.variables.map(({ name }) => name);
  if (
    node.type === 'FunctionDeclaration' &&
    node.isLocal &&
    node.identifier?.type === 'Identifier'
  ) {
    return [node.identifier.name];
  }
  return [];
}

/** What of a loop is read before its variables are there. */
function headsOf(node: LuaNode): readonly unknown[] {
  if (node.type === 'ForNumericStatement') return [node.start, node.end, node.step];
  return node.type === 'ForGenericStatement' ? node.iterators : [];
}

export function textOf(text: string, node: LuaNode): string {
  return text.slice(node.range[0], node.range[1]);
}

export function overlap(changes: readonly Change[]): boolean {
  const ordered = [...changes].sort((a, b) => a.from - b.from || a.to - b.to);
  return ordered.some((one, at) => one.from < (ordered[at - 1]?.to ?? 0));
}

export function within(node: LuaNode, other: LuaNode): boolean {
  return node.range[0] >= other.range[0] && node.range[1] <= other.range[1];
}

/** The text with all changes made; none of them lies in another. */
export function changed(text: string, changes: readonly Change[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to, text: put } of [...changes].sort((one, other) => one.from - other.from)) {
    parts.push(text.slice(at, from), put);
    at = to;
  }
  return [...parts, text.slice(at)].join('');
}

export function nameIn({ node }: Place): string {
  return node.type === 'Identifier' ? node.name : '';
}
