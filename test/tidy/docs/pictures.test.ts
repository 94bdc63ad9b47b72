/** The recorded terminal of README: there, safe to show, and what the demo prints. */
import { describe, expect, it } from 'vitest';
import { TerminalScreen } from '../../../scripts/docs/terminal-screen.ts';
import { WEIGHTS } from '../../../src/cli/demo/cast.ts';
import { Screen } from '../../../src/cli/demo/screen.ts';
import { styleFor } from '../../../src/cli/terminal/style.ts';
import { allElements, readXml, type XmlElement } from '../../support/docs/xml.ts';
import { read } from '../../support/files.ts';

const PICTURES = ['docs/assets/demo-light.svg', 'docs/assets/demo-dark.svg'];
/** What a page that shows it has to load, in bytes. */
const LARGEST = 100_000;

/** Elements and attributes that can show text and boxes, and no more. */
const ELEMENTS = ['svg', 'title', 'style', 'rect', 'g', 'text'];
const ATTRIBUTES = [
  ...['xmlns', 'xml:space', 'viewBox', 'width', 'height', 'role', 'class', 'transform'],
  ...['x', 'y', 'rx', 'textLength'],
];

describe.each(PICTURES)('%s', (path) => {
  const source = read(path);
  const picture = readXml(source);
  const elements = allElements(picture);

  it('is small', () => {
    expect(Buffer.byteLength(source)).toBeLessThanOrEqual(LARGEST);
  });

  it('holds text and boxes, loads nothing and runs nothing', () => {
    const attributes = elements.flatMap((one) => [...one.attributes.keys()]);
    expect(elements.map(({ name }) => name).filter((name) => !ELEMENTS.includes(name))).toEqual([]);
    expect(attributes.filter((name) => !ATTRIBUTES.includes(name))).toEqual([]);
    expect(source.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /\/\/|url\(|@import|data:/,
    );
  });

  it('names itself, and everything in it lies inside', () => {
    const frame = elements.filter(({ name }) => name === 'svg').at(1);
    const right = Number(frame?.attributes.get('width'));
    const ends = elements
      .filter(({ name }) => name === 'text')
      .map(({ attributes }) => Number(attributes.get('x')) + Number(attributes.get('textLength')));
    expect(elements.find(({ name }) => name === 'title')?.text).toMatch(/^npm run demo: /);
    expect(Math.max(...ends)).toBeLessThanOrEqual(right + 0.01);
  });

  it('shows at rest what the demo prints: its heading, and everybody', () => {
    const [final] = framesOf(picture);
    const lines = linesOf(final);
    expect(lines).toContain(heading());
    const users = lines.map((line) => line.split(' ')[0] ?? '').filter((word) => WEIGHTS.has(word));
    expect(users).toEqual([...WEIGHTS.keys()]);
    expect(lines.join('\n')).toMatch(/^Fairloom demo: memory backend, seed \d+$/m);
    expect(lines.join('\n')).toMatch(/at any moment: 0\.\d+ turns$/m);
  });

  it('plays frames of one run, whose turns only grow', () => {
    const [final, ...earlier] = framesOf(picture);
    const turns = [...earlier, final].flatMap((frame) => {
      const found = /(\d+) turns, largest/.exec(linesOf(frame).join('\n'));
      return found === null ? [] : [Number(found[1])];
    });
    expect(turns.length).toBeGreaterThan(5);
    expect(turns).toEqual(turns.toSorted((one, other) => one - other));
  });
});

describe('the two', () => {
  it('differ in nothing but colors', () => {
    const [light, dark] = PICTURES.map((path) => read(path).replaceAll(/#[0-9a-f]{6}/g, '#'));
    expect(light).toBe(dark);
  });

  it('are shown by README, each to whom it is for', () => {
    const picture = /<picture>[\s\S]*?<\/picture>/.exec(read('README.md'))?.[0] ?? '';
    const [light = '', dark = ''] = PICTURES;
    expect(picture).toContain(`<source media="(prefers-color-scheme: dark)" srcset="${dark}">`);
    expect(picture).toMatch(new RegExp(`<img src="${light}" alt="[^"]{20,}"`));
  });
});

describe('the screen that records', () => {
  const shown = (text: string): readonly string[] => {
    const screen = new TerminalScreen();
    screen.write(text);
    return screen.lines().map((runs) => runs.map((run) => run.text).join('|'));
  };

  it('draws over what was there', () => {
    expect(shown('one\r\ntwo\r\n\u001b[2A\u001b[Jnew\r\n')).toEqual(['new']);
    expect(shown('a\u001b[1mb\u001b[22mc')).toEqual(['a|b|c']);
  });

  it('refuses what it does not know', () => {
    expect(() => shown('\u001b[3B')).toThrow('unknown to this screen');
    expect(() => shown('\u001b[95m')).toThrow('unknown to this screen');
  });
});

/** The groups of the strip: the last frame first. */
function framesOf(picture: XmlElement): readonly [XmlElement, ...(readonly XmlElement[])] {
  const strip = allElements(picture).find(({ attributes }) => attributes.get('class') === 'strip');
  const [final, ...earlier] = strip?.children ?? [];
  if (final === undefined) throw new Error('the picture has no frames');
  return [final, ...earlier];
}

/** The text of a frame by line, with one space wherever there are more. */
function linesOf(frame: XmlElement): readonly string[] {
  const lines = new Map<number, string[]>();
  for (const { name, attributes, text } of frame.children) {
    if (name !== 'text') continue;
    const y = Number(attributes.get('y'));
    lines.set(y, [...(lines.get(y) ?? []), text]);
  }
  return [...lines.values()].map((texts) => texts.join(' ').replaceAll(/ +/g, ' '));
}

/** The heading of the demo's table, as it is today. */
function heading(): string {
  let shown = '';
  const screen = new Screen({
    write: (text) => {
      shown += text;
    },
    style: styleFor({}, {}),
    live: true,
    title: '',
  });
  const waitMs = { p50: 1, p99: 1 };
  const user = { user: 'ada', weight: 1, waiting: 1, turns: 1, share: 1, fairShare: 1 };
  const users = [{ ...user, deviation: 0, waitMs }];
  screen.draw({ turns: 1, maxDeviation: 0, jain: 1, users }, 1);
  return /^USER.*$/m.exec(shown)?.[0].replaceAll(/ +/g, ' ').trim() ?? '';
}
