// The ranges that are closed to addresses users supply, and what an operator can open.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addressJudge, isRange } from './address-rules.ts'

const strict = addressJudge({ allow: [], loopback: false })

const CLOSED: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'link-local': ['169.254.0.1', 'fe80::1', 'fe80::1%eth0'],
  metadata: ['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd00:ec2::254'],
  'shared by carriers': ['100.64.0.1', '100.127.255.255'],
  'unique-local': ['fc00::1', 'fdff:ffff::1'],
  'site-local': ['fec0::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'reserved or broadcast': ['240.0.0.1', '255.255.255.255', '5f00::1', '100::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255'],
  'mapped IPv4': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe'],
  'IPv4 in other clothes': ['::127.0.0.1', '::ffff:0:127.0.0.1'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b:1::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'no address at all': ['localhost', '', '1.2.3', '2130706433'],
}

describe('closed', () => {
  for (const [what, addresses] of Object.entries(CLOSED)) {
    test(`${what}: ${addresses.join(', ')}`, () => {
      for (const address of addresses) assert.equal(strict(address), 'closed', address)
    })
  }
})

test('hosts of the public internet are open, however their address is written', () => {
  for (const address of [
    '1.1.1.1',
    '52.216.0.1',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
  ]) {
    assert.equal(strict(address), 'public', address)
  }
})

test('an operator opens a range and nothing beside it', () => {
  const judge = addressJudge({ allow: ['10.1.0.0/16', 'fd00:1::/32'], loopback: false })
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::5']) assert.equal(judge(address), 'opened', address)
  for (const address of ['10.2.0.1', 'fd00:2::5', '127.0.0.1']) assert.equal(judge(address), 'closed', address)
})

test('development opens loopback and nothing else', () => {
  const judge = addressJudge({ allow: [], loopback: true })
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) assert.equal(judge(address), 'opened', address)
  for (const address of ['10.0.0.1', '169.254.169.254', '0.0.0.0']) assert.equal(judge(address), 'closed', address)
})

test('a range is an address, a slash and a length that fits', () => {
  for (const range of ['10.0.0.0/8', '10.1.2.3/32', 'fd00::/8', '::/0']) assert.ok(isRange(range), range)
  for (const range of ['10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'ten/8', '10.0.0.0/8/8', '10.0.0.0/-1']) {
    assert.ok(!isRange(range), range)
  }
})
