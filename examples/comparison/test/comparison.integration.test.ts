/** Runs the same scenarios against the solutions with Kinora and with other packages, on a Postgres. */
import { assert, vi } from "@effect/vitest"
import type { Mail, Mails, MailServer } from "../src/Mails.ts"
import { compare } from "./compare.ts"
import {
  type Hotel,
  hotels,
  type MailProgram,
  mailPrograms,
  type Shop,
  shops,
  type Stations,
  weatherServices
} from "./solutions.ts"

// -----------------------------------------------------------------------------
// charges
// -----------------------------------------------------------------------------

const json = { "content-type": "application/json" }

const shopRequest = async ({ send }: Shop, account: string, method: string, path: string, body?: object) => {
  const headers = { ...json, "x-account": account }
  return send(path, { method, headers, ...body && { body: JSON.stringify(body) } })
}
const buy = async (shop: Shop, account: string, credits: number) => {
  const payment = { id: `payment of ${account}`, account, credits, expiresAt: "2099-01-01T00:00:00Z" }
  // The second one is the same payment.
  for (const _ of [1, 2]) {
    assert.strictEqual((await shopRequest(shop, account, "POST", "/payments", payment)).status, 204)
  }
}
const print = async (shop: Shop, account: string, id: string, copies: number, country = "FR") =>
  (await shopRequest(shop, account, "POST", "/prints", { id, copies, country })).status
const creditsOf = async (shop: Shop, account: string): Promise<number> =>
  (await (await shopRequest(shop, account, "GET", "/balance")).json() as { credits: number }).credits

compare("charges", shops, {
  "200 orders at once, a quarter rolls back after the charge: prints without a charge, and charges without a print":
    async (shop) => {
      const accounts = Array.from({ length: 10 }, (_, n) => `customer ${n}`)
      await Promise.all(accounts.map((account) => buy(shop, account, 100)))
      const orders = Array.from({ length: 200 }, (_, n) => n % 4 === 0 ? "AQ" : "FR")
      const statuses = await Promise.all(
        orders.map((country, n) => print(shop, accounts[n % 10]!, `p-${n}`, 3, country))
      )
      assert.deepStrictEqual(statuses, orders.map((country) => country === "AQ" ? 422 : 201))
      const credits = await Promise.all(accounts.map((account) => creditsOf(shop, account)))
      assert.strictEqual(credits.reduce((sum, left) => sum + left), 1000 - 150 * 3)
      const { rows: [{ all, inconsistent }] } = await shop.pool.query(`
        SELECT count(*) AS all, count(*) FILTER (WHERE print.id IS NULL OR charged.print IS NULL) AS inconsistent
        FROM print FULL JOIN (${shop.charged}) AS charged ON charged.print = print.id
      `)
      return `${inconsistent} of ${all}`
    },
  "30 orders of 5 credits at once, the account has 50 credits: accepted orders": async (shop) => {
    await buy(shop, "ada", 50)
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, n) => print(shop, "ada", `ada-${n}`, 5)))
    assert.isTrue(statuses.every((status) => status === 201 || status === 402))
    assert.strictEqual(await creditsOf(shop, "ada"), 0)
    return statuses.filter((status) => status === 201).length
  },
  "10 of 50 credits are charged twice with the same reference: credits left": async (shop) => {
    await buy(shop, "grace", 50)
    await shop.charge("grace", "same", 10)
    await Promise.allSettled([shop.charge("grace", "same", 10)])
    return creditsOf(shop, "grace")
  },
  "a print for 30 of 100 credits is cancelled twice: credits left": async (shop) => {
    await buy(shop, "joan", 100)
    assert.strictEqual(await print(shop, "joan", "joan-1", 30), 201)
    assert.strictEqual(await creditsOf(shop, "joan"), 70)
    const cancel = async () => (await shopRequest(shop, "joan", "DELETE", "/prints/joan-1")).status
    assert.strictEqual(await cancel(), 204)
    // A solution may respond that there is no such print.
    assert.include([204, 404], await cancel())
    return creditsOf(shop, "joan")
  }
})

// -----------------------------------------------------------------------------
// limits
// -----------------------------------------------------------------------------

const book = async ({ processes }: Hotel, account: string, key: string, room: number, process = 0) => {
  const headers = { ...json, "x-account": account, "idempotency-key": key }
  const body = JSON.stringify({ room, night: "2027-05-01" })
  return (await processes[process]!("/bookings", { method: "POST", headers, body })).status
}

/** Sends 30 requests of an account at once. Returns how many were accepted. */
const bookMany = async (hotel: Hotel, account: string, room: number): Promise<number> => {
  const requests = Array.from({ length: 30 }, (_, n) => book(hotel, account, `k-${n}`, room + n, n % 2))
  const statuses = await Promise.all(requests)
  assert.isTrue(statuses.every((status) => status === 201 || status === 429))
  return statuses.filter((status) => status === 201).length
}

compare("limits", hotels, {
  "30 requests at once to two instances, at most 10 per minute: accepted requests": (hotel) =>
    bookMany(hotel, "ada", 200),
  "30 requests at once to two instances, at most 10 per minute: requests that count": async (hotel) => {
    await bookMany(hotel, "joan", 300)
    return hotel.counted("joan")
  },
  "a request, then the same with the same `Idempotency-Key`: statuses": async (hotel) => {
    const first = await book(hotel, "grace", "same", 101)
    return `${first}, ${await book(hotel, "grace", "same", 101, 1)}`
  }
})

// -----------------------------------------------------------------------------
// keys
// -----------------------------------------------------------------------------

const stationRequest = async (
  { processes }: Stations,
  method: string,
  path: string,
  { key, body, process = 0 }: { readonly key?: string; readonly body?: object; readonly process?: number } = {}
) => {
  const headers = { ...json, ...key !== undefined && { authorization: `Bearer ${key}` } }
  const response = await processes[process]!(path, { method, headers, ...body && { body: JSON.stringify(body) } })
  const text = await response.text()
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) as Record<string, string> }
}
const register = async (stations: Stations, place: string) => {
  const { body, status } = await stationRequest(stations, "POST", "/stations", { body: { place } })
  return { status, reporter: body["reporter"] ?? "", reader: body["reader"] ?? "" }
}
const read = async (stations: Stations, key: string, process = 0) =>
  (await stationRequest(stations, "GET", "/temperature", { key, process })).status

compare("keys", weatherServices, {
  "201 registrations, 10 at once, 50 roll back after the keys: stations without keys, and keys without a station":
    async (stations) => {
      assert.strictEqual((await register(stations, "taken")).status, 201)
      const places = Array.from({ length: 200 }, (_, n) => n % 4 === 0 ? "taken" : `place-${n}`)
      const work = async () => {
        for (let place = places.pop(); place !== undefined; place = places.pop()) {
          assert.strictEqual((await register(stations, place)).status, place === "taken" ? 409 : 201)
        }
      }
      await Promise.all(Array.from({ length: 10 }, work))
      const { rows: [{ all, inconsistent }] } = await stations.pool.query(`
        SELECT count(*) AS all, count(*) FILTER (WHERE station.id IS NULL OR key.owner IS NULL) AS inconsistent
        FROM station FULL JOIN (SELECT DISTINCT owner FROM (${stations.keys}) AS key) AS key ON key.owner = station.id
      `)
      return `${inconsistent} of ${all}`
    },
  "the text of a key is in the table": async (stations) => {
    const { reader, reporter } = await register(stations, "beach")
    assert.notInclude([reader, reporter], "")
    const { rows } = await stations.pool.query(`SELECT text FROM (${stations.keys}) AS key`)
    return rows.some(({ text }) => text.includes(reader) || text.includes(reporter)) ? "yes" : "no"
  },
  "a key that may read reads, then one that may not: statuses": async (stations) => {
    const { reader, reporter } = await register(stations, "pier")
    return `${await read(stations, reader)}, ${await read(stations, reporter)}`
  },
  "a replaced key reads, then the new one: statuses": async (stations) => {
    const { reader } = await register(stations, "port")
    const { rolled = "" } = (await stationRequest(stations, "POST", "/keys/roll", { key: reader })).body
    return `${await read(stations, reader)}, ${await read(stations, rolled)}`
  },
  "a revoked key reads in the same instance, then in another that had verified it: statuses": async (stations) => {
    const { reader } = await register(stations, "quay")
    assert.strictEqual(await read(stations, reader, 1), 200)
    assert.strictEqual((await stationRequest(stations, "DELETE", "/keys/current", { key: reader })).status, 204)
    return `${await read(stations, reader)}, ${await read(stations, reader, 1)}`
  }
})

// -----------------------------------------------------------------------------
// jobs
// -----------------------------------------------------------------------------

const countOf = async ({ pool }: MailProgram, query: string): Promise<number> => (await pool.query(query)).rows.length

const patience = { timeout: 60_000, interval: 50 }

/** A mail server that records what it sends, and fails for the first mails. */
const serverOf = (busyFor: number) => {
  const sends: Array<string> = []
  const digests: Array<string> = []
  const send = async ({ subject }: Mail) => {
    if (sends.push(subject) <= busyFor) throw new Error("The mail server is busy")
  }
  return { sends, digests, server: { send, digest: async (hour: string) => void digests.push(hour) } }
}

/** Runs instances that send mails until the body has ended and no job is left. */
const runMails = async (
  program: MailProgram,
  server: MailServer,
  body: (mails: Mails) => Promise<unknown>,
  processes = 1
): Promise<void> => {
  const opened = await Promise.all(Array.from({ length: processes }, () => program.open(program.pool, server)))
  try {
    await body(opened[0]!)
    await vi.waitFor(async () => assert.strictEqual(await countOf(program, program.jobs), 0), patience)
  } finally {
    for (const { close } of opened) await close()
  }
}

compare("jobs", mailPrograms, {
  "600 transactions, 10 at once, a quarter rolls back after its mail was queued: sent mails": async (program) => {
    const { sends, server } = serverOf(0)
    await runMails(
      program,
      server,
      (mails) => program.program.request((id, tx) => mails.queue({ to: `customer ${id}`, subject: id }, tx))
    )
    assert.isTrue(sends.every((id) => Number(id) % 4 !== 0))
    assert.strictEqual(new Set(sends).size, sends.length)
    return sends.length
  },
  "a mail that cannot be sent the first time: sends, jobs left": async (program) => {
    const { sends, server } = serverOf(1)
    const mail = { to: "ada", subject: "hello" }
    await runMails(program, server, ({ queue }) => program.program.inTransaction((tx) => queue(mail, tx)))
    return `${sends.length}, ${await countOf(program, program.jobs)}`
  },
  "three hourly digests were missed, then two instances start: sent digests": async (program) => {
    const { digests, server } = serverOf(0)
    await runMails(program, serverOf(0).server, async () => {})
    await program.pool.query(program.miss)
    const untilCaughtUp = () =>
      vi.waitFor(async () => assert.strictEqual(await countOf(program, program.isCaughtUp), 1), patience)
    await runMails(program, server, untilCaughtUp, 2)
    assert.strictEqual(new Set(digests).size, digests.length)
    // An hour that begins during the test adds one.
    return digests.length < 3 ? "the last" : "each"
  }
})
