/** Ports for programs under test that cannot report which one they listen on. */
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer, type Server } from "node:net"

// Below the ports that an operating system gives to sockets which ask for any port.
const first = 10_000
const last = 32_000
const attemptsMax = 1_000

/** Returns a port of 127.0.0.1 on which nothing listens, the first of `count` adjacent ones that are all free. */
export const find = async (count = 1): Promise<number> => {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(first, last - count)
    if (await areFree(Array.from({ length: count }, (_, n) => port + n))) return port
  }
  throw new Error(`No port of ${attemptsMax} between ${first} and ${last} is free`)
}

/** Listens on a port of 127.0.0.1. */
export const take = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  return server
}

const areFree = async (ports: ReadonlyArray<number>): Promise<boolean> => {
  const taken = await Promise.allSettled(ports.map(take))
  const servers = taken.flatMap((one) => one.status === "fulfilled" ? [one.value] : [])
  await Promise.all(servers.map((server) => once(server.close(), "close")))
  return servers.length === ports.length
}
