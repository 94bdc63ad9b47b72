/** A strict reader of plain XML: elements, attributes, text. Anything else is an error. */

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Its own text, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const NAME = '[A-Za-z_][\\w.:-]*';
const ATTRIBUTE = new RegExp(`\\s+(${NAME})="([^"<]*)"`, 'y');
const OPEN = new RegExp(`<(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>`, 'y');
const CLOSE = new RegExp(`</(${NAME})\\s*>`, 'y');
const TEXT = /[^<]+/y;
const ENTITY = /&(?:(lt|gt|amp|quot|apos);)?/g;
const ENTITIES = new Map(Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }));

interface Growing extends XmlElement {
  text: string;
  readonly children: Growing[];
}

/** @throws Error where the text is not well-formed, or no single element. */
export function readXml(source: string): XmlElement {
  const root: Growing = element('', '');
  const open: Growing[] = [root];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  while (at < source.length) {
    const inner = open.at(-1) ?? root;
    const text = take(TEXT);
    if (text !== null) {
      inner.text += decoded(text[0]);
      continue;
    }
    const close = take(CLOSE);
    if (close !== null) {
      if (open.length === 1 || inner.name !== close[1]) throw new Error(`stray </${close[1]}>`);
      open.pop();
      continue;
    }
    const [, name = '', attributes = '', end] = take(OPEN) ?? [];
    if (name === '') throw new Error(`no XML at ${at}: ${source.slice(at, at + 40)}`);
    const child = element(name, attributes);
    inner.children.push(child);
    if (end === '') open.push(child);
  }
  const [only, ...more] = root.children;
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> has no end`);
  if (only === undefined || more.length > 0 || root.text.trim() !== '') {
    throw new Error('there is not one element');
  }
  return only;
}

/** The element and everything in it. */
export function allElements(element: XmlElement): readonly XmlElement[] {
  return [element, ...element.children.flatMap(allElements)];
}

function element(name: string, source: string): Growing {
  const attributes = new Map<string, string>();
  for (const [, key = '', value = ''] of source.matchAll(new RegExp(ATTRIBUTE, 'g'))) {
    if (attributes.has(key)) throw new Error(`<${name}> has ${key} twice`);
    attributes.set(key, decoded(value));
  }
  return { name, attributes, text: '', children: [] };
}

function decoded(text: string): string {
  return text.replaceAll(ENTITY, (whole, name: string | undefined) => {
    const character = ENTITIES.get(name ?? '');
    if (character === undefined) throw new Error(`a bare ${whole} in ${text.slice(0, 40)}`);
    return character;
  });
}
