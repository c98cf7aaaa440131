/** A DNS server over UDP for tests. It responds like a resolver, and follows chains of aliases. */
import { Effect, type Scope } from "effect"
import { createSocket, type RemoteInfo } from "node:dgram"
import { once } from "node:events"

/** A type of record. */
export type RecordType = "A" | "AAAA" | "CNAME"

/**
 * The response for a name: its addresses of the requested type, an alias, NXDOMAIN, SERVFAIL, or no response.
 */
export type Answer =
  | ReadonlyArray<string>
  | { readonly alias: string }
  | "no_such_name"
  | "failure"
  | "silence"

/** Returns the response for a name and a type. `asked` is the number of earlier queries for both. */
export type Zone = (name: string, type: RecordType, asked: number) => Answer

/**
 * A zone for tests of own domains. `kinora.dev` and `admin.kinora.dev` are own hosts. `alias.com` is an alias of the
 * second one, `same.com` and `six.com` share an address with the first one, and `other.com` shares nothing.
 */
export const ownDomainZone: Zone = (name, type) => {
  if (type === "AAAA") return name === "six.com" ? ["2606:4700::1"] : name === "kinora.dev" ? ["2606:4700::1"] : []
  switch (name) {
    case "kinora.dev":
      return ["93.184.216.34"]
    case "admin.kinora.dev":
      return ["93.184.216.99"]
    case "alias.com":
      return { alias: "second.com" }
    case "second.com":
      return { alias: "Admin.Kinora.dev" }
    case "same.com":
      return ["8.8.8.8", "93.184.216.34"]
    case "other.com":
      return ["8.8.8.8"]
    default:
      return []
  }
}

/** A running server. */
export interface NameServer {
  /** Address and port, as resolvers accept them. */
  readonly address: string
  /** Returns the number of queries for a name and a type. */
  readonly asked: (name: string, type: RecordType) => number
}

/** Starts a server that runs until the scope closes. */
export const make = (zone: Zone): Effect.Effect<NameServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const counts = new Map<string, number>()
    const socket = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const socket = createSocket("udp4")
        socket.bind(0, "127.0.0.1")
        await once(socket, "listening")
        return socket
      }),
      (socket) => Effect.sync(() => socket.close())
    )
    socket.on("message", (query: Buffer, { address, port }: RemoteInfo) => {
      const reply = replyTo(query, (name, type) => {
        const key = `${name} ${type}`
        const asked = counts.get(key) ?? 0
        counts.set(key, asked + 1)
        return zone(name, type, asked)
      })
      if (reply !== undefined) socket.send(reply, port, address)
    })
    return {
      address: `127.0.0.1:${socket.address().port}`,
      asked: (name, type) => counts.get(`${name} ${type}`) ?? 0
    }
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const numbers = { A: 1, AAAA: 28, CNAME: 5 } as const
const codes = { good: 0, failure: 2, no_such_name: 3 } as const

type Ask = (name: string, type: RecordType) => Answer

/** Encodes a response (RFC 1035, 4.1): header, question and records. Returns `undefined` for no response. */
const replyTo = (query: Buffer, ask: Ask): Buffer | undefined => {
  const { end, name, type } = readQuestion(query)
  const found = type === undefined ? nothing : follow(name, type, ask, chainMax)
  if (found === undefined) return undefined
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  // QR, RD and RA: a response of a recursive server.
  header.writeUInt16BE(0x8180 | found.code, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(found.records.length, 6)
  return Buffer.concat([header, query.subarray(12, end), ...found.records])
}

interface Found {
  readonly code: number
  readonly records: ReadonlyArray<Buffer>
}

const nothing: Found = { code: codes.good, records: [] }

const follow = (owner: string, type: RecordType, ask: Ask, links: number): Found | undefined => {
  // Names are case-insensitive.
  const answer = ask(owner.toLowerCase(), type)
  if (answer === "silence") return undefined
  if (typeof answer === "string") return { code: codes[answer], records: [] }
  if (!("alias" in answer)) {
    if (type === "CNAME") return nothing
    return { code: codes.good, records: answer.map((address) => record(owner, type, writeAddress(address))) }
  }
  // A query for the CNAME itself gets only the alias.
  const rest = type === "CNAME" || links === 0 ? nothing : follow(answer.alias, type, ask, links - 1)
  return rest && { ...rest, records: [record(owner, "CNAME", writeName(answer.alias)), ...rest.records] }
}

/** More links than resolvers follow. */
const chainMax = 32

const readQuestion = (query: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length))
    at += 1 + length
  }
  const number = query.readUInt16BE(at + 1)
  const type = (["A", "AAAA", "CNAME"] as const).find((type) => numbers[type] === number)
  return { name: labels.join("."), type, end: at + 5 }
}

const record = (owner: string, type: RecordType, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(numbers[type], 0)
  fixed.writeUInt16BE(1, 2)
  // A long TTL, so that tests detect a client that caches.
  fixed.writeUInt32BE(300, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(owner), fixed, data])
}

const writeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")])),
    Buffer.from([0])
  ])

const writeAddress = (address: string): Buffer => {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number))
  const [head = "", tail] = address.split("::")
  const left = head.split(":").filter((group) => group !== "")
  const right = (tail ?? "").split(":").filter((group) => group !== "")
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => "0"), ...right]
  const bytes = Buffer.alloc(16)
  for (const [index, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  return bytes
}
