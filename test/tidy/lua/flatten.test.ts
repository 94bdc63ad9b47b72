/** A short script made flat: what stands where, and that it does what it did. */
import { describe, expect, it } from 'vitest';
import { flattenLua } from '../../../scripts/lua/flatten.ts';

/** A short script with these functions, as lua-compile.ts hands it over. */
function script(functions: string, own: string, state = ''): string {
  return [
    'local F = {}',
    state,
    'local rich = false',
    '',
    'local library = function()',
    '',
    functions,
    '',
    'end',
    'library()',
    own,
    '',
  ].join('\n');
}

/** The flat script without what every one has, and without gaps. */
function flat(functions: string, own: string, state?: string): string {
  return flattenLua(script(functions, own, state))
    .replace('local F = {}', '')
    .replace('local ARGV = ARGV', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

describe('a function that is called once', () => {
  it('stands in place of a statement that calls it', () => {
    const text = flat("function F.a(x)\n  redis.call('DEL', x)\nend", "F.a('k')");
    expect(text).toBe("do local x = 'k' redis.call('DEL', x) end");
  });

  it('gives its value to locals', () => {
    const text = flat(
      'function F.a(x)\n  local y = x + 1\n  return y, 2\nend',
      'local y, z = F.a(y)\nreturn y + z',
    );
    expect(text).toBe(
      'local a_1_1, a_1_2 do local x = y local y = x + 1 a_1_1, a_1_2 = y, 2 end return a_1_1 + a_1_2',
    );
  });

  it('is left early by a loop that is run once', () => {
    const text = flat(
      'function F.a(x)\n  if x then return 1 end\n  redis.log(x)\n  return 2\nend',
      'local y = F.a(z)',
    );
    expect(text).toBe(
      'local a_1_1 repeat local x = z if x then a_1_1 = 1 break end redis.log(x) a_1_1 = 2 until true',
    );
  });

  it('is left from within its loops', () => {
    const text = flat(
      'function F.a(n)\n  for i = 1, n do\n    while true do return i end\n  end\nend',
      'local y = F.a(n)',
    );
    expect(text).toBe(
      'local a_1_1 repeat local a_1_gone for i = 1, n do while true do a_1_1 = i a_1_gone = true break end if a_1_gone then break end end if a_1_gone then break end until true',
    );
  });

  it('returns for the one that returns its value', () => {
    const text = flat('function F.a(x)\n  if x then return 1 end\nend', 'return F.a(y)');
    expect(text).toBe('do local x = y if x then return 1 end return end');
  });

  it('goes before a statement that begins with it, and nowhere else', () => {
    const body = 'function F.a(x)\n  local y = x\n  return y\nend';
    expect(flat(body, 'if not F.a(z) then return end')).toContain('if not a_1_1 then return end');
    expect(flat(body, 'if z and F.a(z) then return end')).toContain('z and F.a(z)');
    expect(flat(body, 'while F.a(z) do end')).toContain('while F.a(z)');
  });

  it('stays a function where its names mean something else', () => {
    const text = flat(
      'function F.a()\n  local x = now\n  return x\nend',
      'local now = 2\nlocal y = F.a()',
      'local now = 1',
    );
    expect(text).toContain('local y = F.a()');
  });

  it('stays a function when something else than a call names it', () => {
    expect(flat('function F.a()\n  redis.log()\nend', 'table.sort(x, F.a)\nF.a()')).toContain(
      'F.a()',
    );
  });
});

describe('functions that are called more often', () => {
  it('stand in each place when they are short', () => {
    const text = flat("function F.a(x)\n  redis.call('DEL', x)\nend", 'F.a(y)\nF.a(z)');
    expect(text.match(/'DEL'/g)).toHaveLength(2);
  });

  it('are an expression when they are nothing but one', () => {
    const text = flat('function F.a(x) return x * x end', 'local y = b or F.a(c[i]) + F.a(2)');
    expect(text).toBe('local y = b or (c[i] * c[i]) + (2 * 2)');
  });

  it('stay functions when an argument does something', () => {
    const text = flat('function F.a(x) return x * x end', 'local y = b or F.a(f())');
    expect(text).toContain('b or F.a(f())');
  });

  it('that nothing calls are gone, with what is said of them', () => {
    expect(flat('-- Says why.\nfunction F.a()\n  return 1\nend', 'return 2')).toBe('return 2');
  });
});

describe('what only the other script does', () => {
  it.each([
    ['if rich then a() end', ''],
    ['if rich then a() else b() end', 'do b() end'],
    ['if rich then a() elseif c then b() end', 'if c then b() end'],
    ['if not rich then a() end', 'do a() end'],
    ['if x and not rich and y then a() end', 'if (x and y) then a() end'],
    ['local x = rich and {}', 'local x = false'],
  ])('%s', (own, expected) => {
    expect(flat('', own)).toBe(expected);
  });
});

describe('tables that only their fields are asked of', () => {
  it('are a local for each field', () => {
    const text = flat('', 'local t = { a = f(), b = 2 }\nt.c = t.a + t.b\nreturn t.c');
    expect(text).toBe('local t_a, t_b, t_c = (f()), 2 t_c = t_a + t_b return t_c');
  });

  it('are, when a function gives them back', () => {
    const text = flat(
      'function F.a(x)\n  f()\n  return { v = x, w = 2 }\nend',
      'local t = F.a(y)\nreturn t.v',
    );
    expect(text).toBe(
      'local a_1_1_v, a_1_1_w do local x = y f() a_1_1_v, a_1_1_w = x, 2 end return a_1_1_v',
    );
  });

  it.each([
    'local t = { a = 1 }\nf(t)',
    'local t = { a = 1 }\nreturn t[x]',
    'local t = { 1, 2 }\nreturn t.a',
    'local t = { a = 1 }\nt = { a = 2 }\nreturn t.a',
  ])('stay tables else: %s', (own) => {
    expect(flat('', own)).toBe(own.replaceAll('\n', ' '));
  });
});

describe('a table of the state', () => {
  it('is a local for each of its fields', () => {
    const text = flat(
      '',
      "C.freed = H['due-at'] + C.steps",
      "local H = { ['due-at'] = 1 }\nlocal C = { steps = 0 }",
    );
    expect(text).toBe('local H_due_at = 1 local C_steps, C_freed = 0 C_freed = H_due_at + C_steps');
  });

  it('may be named by its fields only', () => {
    expect(() => flat('', 'H[x] = 1', 'local H = { a = 1 }')).toThrow(
      /more than its fields: H\[x\]/,
    );
  });
});
