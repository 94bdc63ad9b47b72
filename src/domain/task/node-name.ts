/**
 * Names of nodes in texts. A group without a name has an id within its graph, `~group.a` after the
 * first of its tasks: it appears in fields and in no text.
 */
import { nameIn } from './task-name.ts';

const OWN_ID = /(?<=^|[/.])~(?:group(\d*)|empty(\d+)|(end)|join\d*)(?:\.|$)/g;

/** A node, or the path of a member, for display: `group of a` for `~group.a`. */
export function shownNode(id: string): string {
  if (!id.includes('~')) return id;
  return id.replaceAll(OWN_ID, (_, level?: string, empty?: string, end?: string) => {
    if (empty !== undefined) return `empty group ${empty}`;
    if (level !== undefined) return level === '' ? 'group of ' : `group ${level} of `;
    return end === undefined ? 'start of ' : 'end of ';
  });
}

/** Whether a caller's text means a node: its id, or its display name. */
export function isNamed(id: string, given: string): boolean {
  return id === given || shownNode(id) === given;
}

/** A group in a text: `group "a"`, or `the group of a` for one without a name. */
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

/** Display name of a task; a description for an internal task. */
export function shownTask(name: string): string {
  return name.startsWith('~') ? (OWN_TASKS.get(nameIn(name)) ?? name.slice(1)) : name;
}

/** Owner of a value in a text: `task a`, a group, or a description of an internal task. */
export function valueOwnerText(name: string): string {
  if (!name.startsWith('~')) return `task ${shownNode(name)}`;
  return OWN_TASKS.get(nameIn(name)) ?? shownNode(name);
}
