// Which addresses the service may call on a user's behalf (contract, appendix A): public ones, and what an operator opened.
import { BlockList, isIP } from 'node:net'

/** `opened` by the operator, `public` for everybody, or `closed`. */
export type Verdict = 'opened' | 'public' | 'closed'
export type Judge = (address: string) => Verdict

// Everything that is not a plain host of the public internet. Cloud metadata services live in the link-local, shared and
// unique-local ranges, except the one of Azure, which has a public address.
const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
const PUBLIC_IPV6 = ['2000::/3']
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
const LOOPBACK = ['127.0.0.0/8', '::1/128']

export function addressJudge(options: { allow: readonly string[]; loopback: boolean }): Judge {
  const opened = blockList([...options.allow, ...(options.loopback ? LOOPBACK : [])])
  const closedIpv4 = blockList(CLOSED_IPV4)
  const publicIpv6 = blockList(PUBLIC_IPV6)
  const closedIpv6 = blockList(CLOSED_IPV6)

  return function judge(address) {
    if (isIP(address) === 4) {
      if (opened.check(address, 'ipv4')) return 'opened'
      return closedIpv4.check(address, 'ipv4') ? 'closed' : 'public'
    }
    if (isIP(address) !== 6) return 'closed'
    const [bare = ''] = address.split('%')
    // What travels inside another address is judged as what it is: the packets end there.
    const inner = embeddedIpv4(bare)
    if (inner !== undefined) return judge(inner)
    if (opened.check(bare, 'ipv6')) return 'opened'
    return publicIpv6.check(bare, 'ipv6') && !closedIpv6.check(bare, 'ipv6') ? 'public' : 'closed'
  }
}

/** Whether a text is an address range such as 10.0.0.0/8 or fd00::/8. */
export function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || bits === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false
  return Number(bits) <= (family === 4 ? 32 : 128)
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

const MAPPED = [0, 0, 0, 0, 0, 0xffff]
const NAT64 = [0x64, 0xff9b, 0, 0, 0, 0]
const SIX_TO_FOUR = [0x2002]

/** The IPv4 address that a mapped, NAT64 or 6to4 address leads to. */
function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address)
  const after = (prefix: number[]) =>
    prefix.every((group, at) => groups[at] === group) ? groups.slice(prefix.length) : undefined
  const [high, low] = after(MAPPED) ?? after(NAT64) ?? after(SIX_TO_FOUR) ?? []
  if (high === undefined || low === undefined) return undefined
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const left = readGroups(head)
  if (tail === undefined) return left
  const right = readGroups(tail)
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

function readGroups(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [(a << 8) | b, (c << 8) | d]
  })
}
