// Joining the pieces of tool calls as different servers send them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToolCallJoiner } from './tool-calls.ts'

const joinAll = (...chunks: object[][]) => {
  const joiner = new ToolCallJoiner()
  for (const chunk of chunks) joiner.take(chunk)
  return joiner.joined().map(({ id, function: { name, arguments: text } }) => [id, name, text])
}

test('a server that repeats id and name on each piece makes one call', () => {
  const again = { index: 0, id: 'a', function: { name: 'f' } }
  assert.deepEqual(
    joinAll(
      [{ ...again, function: { name: 'f', arguments: '{' } }],
      [{ ...again, function: { name: 'f', arguments: '}' } }],
    ),
    [['a', 'f', '{}']],
  )
})

test('calls without an index are told apart by their id', () => {
  const call = (id: string) => ({ id, function: { name: id, arguments: '{}' } })
  assert.deepEqual(joinAll([call('a')], [call('b')]), [
    ['a', 'a', '{}'],
    ['b', 'b', '{}'],
  ])
})

test('calls of a whole answer keep their order, and arguments sent as an object become text', () => {
  assert.deepEqual(
    joinAll([
      { id: 'x', function: { name: 'f', arguments: { n: 1 } } },
      { id: 'y', function: { name: 'g' } },
    ]),
    [
      ['x', 'f', '{"n":1}'],
      ['y', 'g', ''],
    ],
  )
})

test('a call without an id gets one that is announced', () => {
  const joiner = new ToolCallJoiner()
  joiner.take([{ index: 0, function: { name: 'f', arguments: '{}' } }])
  const [named] = joiner.nameTheNameless()
  assert.match(named?.id ?? '', /^call_/)
  assert.equal(joiner.joined()[0]?.id, named?.id)
  assert.deepEqual(joiner.nameTheNameless(), [])
})

test('a server that gives every call the same index makes as many calls as it gives ids', () => {
  const begins = (id: string) => ({ index: 0, id, function: { name: `f${id}`, arguments: '{' } })
  const goesOn = { index: 0, function: { arguments: '}' } }
  assert.deepEqual(joinAll([begins('a')], [goesOn], [begins('b')], [goesOn], [begins('c'), goesOn]), [
    ['a', 'fa', '{}'],
    ['b', 'fb', '{}'],
    ['c', 'fc', '{}'],
  ])
})
