/** The floor plan in docs/architecture.md: the rooms of src/, made from scripts/rooms.json and the imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSection } from './section.ts';

/** A folder of src/, without the folders inside it. */
export interface Room {
  /** Path below src/; empty for src/ itself. */
  readonly room: string;
  /** What a stranger finds in it. */
  readonly holds: string;
}

/** A room as it is built. */
export interface Furnished extends Room {
  /** Source files, by hand. */
  readonly files: number;
  /** The rooms that its files import from, in the order of the plan. */
  readonly sees: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START =
  '<!-- The floor plan is written by `npm run docs`, from scripts/rooms.json and src/. -->';
const END = '<!-- End of the floor plan. -->';
/** Of an import or a re-export of a file of ours. */
const IMPORT = /\bfrom '(\.[^']+)'/g;

/** The rooms, the highest first. */
export function loadRooms(): readonly Room[] {
  return JSON.parse(readFileSync(`${ROOT}scripts/rooms.json`, 'utf8'));
}

/** Each room with its files and arrows; @throws when a file stands in none. */
export function furnish(rooms: readonly Room[]): readonly Furnished[] {
  const names = rooms.map(({ room }) => room);
  const files = sources();
  const homeless = files.filter((file) => !names.includes(roomOf(file)));
  if (homeless.length > 0) throw new Error(`no room in scripts/rooms.json: ${homeless.join(', ')}`);
  return rooms.map((one) => {
    const own = files.filter((file) => roomOf(file) === one.room);
    const seen = new Set(own.flatMap(imports).map(roomOf));
    return {
      ...one,
      files: own.length,
      sees: names.filter((name) => name !== one.room && seen.has(name)),
    };
  });
}

/** The page with its plan replaced. */
export function renderFloorPlan(page: string): string {
  const text = `${plan(furnish(loadRooms()))}\n`;
  return withSection(page, { start: START, end: END, text });
}

function plan(rooms: readonly Furnished[]): string {
  const rows = rooms.map(({ room, holds, files, sees }) => {
    const path = room === '' ? 'src/' : `${room}/`;
    return `| \`${path}\` | ${holds} | ${files} | ${brief(sees)} |`;
  });
  return ['| Room | Holds | Files | Sees |', '|---|---|--:|---|', ...rows].join('\n');
}

/** Rooms inside one another stand together: `runs/driven`, `runs/view` as `runs (driven, view)`. */
function brief(sees: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const room of sees) {
    const [top = '', ...inner] = room.split('/');
    const group = groups.get(top) ?? [];
    groups.set(top, inner.length === 0 ? group : [...group, inner.join('/')]);
  }
  return [...groups]
    .map(([top, inner]) => (inner.length === 0 ? top : `${top} (${inner.join(', ')})`))
    .join(', ');
}

function sources(): readonly string[] {
  return readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(ts|lua)$/.test(file) && !/\.generated\.ts$|\/expanded\//.test(file));
}

function imports(file: string): readonly string[] {
  if (!file.endsWith('.ts')) return [];
  const text = readFileSync(`${ROOT}src/${file}`, 'utf8');
  return [...text.matchAll(IMPORT)].map(([, target = '']) =>
    posix.join(posix.dirname(file), target),
  );
}

function roomOf(file: string): string {
  const folder = posix.dirname(file);
  return folder === '.' ? '' : folder;
}
