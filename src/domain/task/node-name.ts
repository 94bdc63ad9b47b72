/**
 * How nodes are called in texts. A group without a name has an id of its graph's own, `~group.a` after the first of
 * its tasks: an address, which stands in fields and in no text.
 */
import { nameIn } from './task-name.ts';

const OWN_ID = /(?<=^|[/.])~(?:group(\d*)|empty(\d+)|(end)|join\d*)(?:\.|$)/g;

/** A node, or the path of a member, as a text shows it: `group of a` for `~group.a`. */
export function shownNode(id: string): string {
  if (!id.includes('~')) return id;
  return id.replaceAll(OWN_ID, (_, level?: string, empty?: string, end?: string) => {
    if (empty !== undefined) return `empty group ${empty}`;
    if (level !== undefined) return level === '' ? 'group of ' : `group ${level} of `;
    return end === undefined ? 'start of ' : 'end of ';
  });
}

/** Whether a node is meant by what a caller gives: its id, or what texts call it. */
export function isNamed(id: string, given: string): boolean {
  return id === given || shownNode(id) === given;
}

/** A group in a text that says what it is: `group "a"`, or `the group of a` of one without a name. */
export function groupText(id: string): string {
  return id.startsWith('~') ? `the ${shownNode(id)}` : `group ${JSON.stringify(id)}`;
}

const OWN_TASKS: ReadonlyMap<string, string> = new Map([
  ['~run', 'run'],
  ['~drive', 'part of a run'],
  ['~group', 'group'],
  ['~join', 'join'],
  ['~given', 'given result'],
  ['~bulk', 'bulk change'],
]);

/** A task's name as a text shows it: what it is, of one that Fairloom itself has stored. */
export function shownTask(name: string): string {
  return name.startsWith('~') ? (OWN_TASKS.get(nameIn(name)) ?? name.slice(1)) : name;
}

/** What a value is of, in a text: `task a`, a group, or what Fairloom itself has stored. */
export function valueOwnerText(name: string): string {
  if (!name.startsWith('~')) return `task ${shownNode(name)}`;
  return OWN_TASKS.get(nameIn(name)) ?? shownNode(name);
}
