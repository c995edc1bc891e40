// What a Swift server with its S3 interface needs on disk: one folder as its only disk, and no replicas.

export interface Ports {
  readonly proxy: number
  readonly account: number
  readonly container: number
  readonly object: number
  readonly memcached: number
}

export interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export const KEYS: Keys = { accessKeyId: 'acme:reader', secretAccessKey: 'secret-of-acme' }

export function serverFiles(root: string, user: string, ports: Ports): Record<string, string> {
  return {
    'swift.conf': ini({
      'swift-hash': { swift_hash_path_suffix: 'test', swift_hash_path_prefix: 'test' },
      'storage-policy:0': { name: 'only', default: 'yes' },
    }),
    'proxy-server.conf': proxy(root, user, ports),
    ...Object.fromEntries(
      (['account', 'container', 'object'] as const).map((kind) => [
        `${kind}-server.conf`,
        ini({
          DEFAULT: {
            ...common(root, user, ports[kind]),
            devices: `${root}/disks`,
            mount_check: 'false',
            recon_cache_path: `${root}/cache`,
            fallocate_reserve: '0',
          },
          'pipeline:main': { pipeline: `${kind}-server` },
          [`app:${kind}-server`]: { use: `egg:swift#${kind}` },
        }),
      ]),
    ),
  }
}

function proxy(root: string, user: string, ports: Ports): string {
  const filters = ['catch_errors', 'cache', 'listing_formats', 's3api', 'tempauth', 'slo', 'dlo']
  return ini({
    DEFAULT: common(root, user, ports.proxy),
    'pipeline:main': { pipeline: [...filters, 'proxy-server'].join(' ') },
    'app:proxy-server': { use: 'egg:swift#proxy', account_autocreate: 'true' },
    ...Object.fromEntries(filters.map((name) => [`filter:${name}`, { use: `egg:swift#${name}` }])),
    'filter:cache': { use: 'egg:swift#memcache', memcache_servers: `127.0.0.1:${ports.memcached}` },
    'filter:s3api': { use: 'egg:swift#s3api', location: 'us-east-1', s3_acl: 'false' },
    'filter:tempauth': {
      use: 'egg:swift#tempauth',
      [`user_${KEYS.accessKeyId.replace(':', '_')}`]: `${KEYS.secretAccessKey} .admin`,
    },
  })
}

const common = (root: string, user: string, port: number) => ({
  bind_ip: '127.0.0.1',
  bind_port: String(port),
  workers: '0',
  user,
  swift_dir: root,
  log_level: 'WARNING',
})

const ini = (sections: Record<string, Record<string, string>>): string =>
  Object.entries(sections)
    .map(([name, settings]) =>
      [`[${name}]`, ...Object.entries(settings).map(([key, value]) => `${key} = ${value}`), ''].join('\n'),
    )
    .join('\n')

/** Builds the three rings, each with the one disk. */
export const RING_BUILDER = `
import sys
from swift.common.ring import RingBuilder
root, ports = sys.argv[1], dict(zip(('account', 'container', 'object'), map(int, sys.argv[2:])))
for name, port in ports.items():
    builder = RingBuilder(4, 1, 0)
    builder.add_dev(dict(id=0, region=1, zone=1, ip='127.0.0.1', port=port, device='d1', weight=1.0,
                         replication_ip='127.0.0.1', replication_port=port, meta=''))
    builder.rebalance()
    builder.get_ring().save(root + '/' + name + '.ring.gz')
`

/** Runs one of the servers with a folder of ours in place of /etc/swift. */
export const LAUNCHER = `
import runpy, sys
from swift.common.utils import set_swift_dir
root, name = sys.argv[1], sys.argv[2]
set_swift_dir(root)
program = '/usr/bin/swift-' + name + '-server'
sys.argv = [program, root + '/' + name + '-server.conf']
runpy.run_path(program, run_name='__main__')
`
