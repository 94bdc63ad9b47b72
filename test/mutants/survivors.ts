/** Mutants that no test kills, by name, and why that is no hole. */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'walk: a node that was left out by a jump is run when its turn comes':
    'steps that jump stand in sequences only, where all behind a jump is left out or runs anew',
  'engine: a lost lease is no reason to stop storing members':
    'nothing more is stored: every later write of that lease is refused as well',
  'Lua, straight: a class more than there may be is begun':
    'one class more costs each choice a look more, and changes no turn',
  'Lua, straight: tasks are known still after a rest':
    'they have been written as they are, and whoever is dealt out is not looked at again in that step',
  'Lua: schedules: what an event starts is stored and not saved':
    'nothing that an event starts ends in that step, and all is written at its end',
  'damage: a lease that cannot be read is none':
    'its task stands nowhere then, and the repair that follows the call puts it back in line',
  'damage: a clock that is lost knows of no leases':
    'the repair that follows the call reads when leases end, and the clock is told anew at its end',
  'Lua, odd: many that were started before lose their place':
    'what was started has its latest lease behind its facts, so they are longer than those that are promoted',
  'file: a broken log takes more':
    'each commit asks once more before it writes, and refuses its lines then',
  'file: segments go from the newest on':
    'what is missing between two segments then, each of the two snapshots has, so nobody reads it',
};
