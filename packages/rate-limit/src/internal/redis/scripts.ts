/**
 * The rules of counters and leases as scripts of Redis. Each script changes one key, and Redis executes it as a whole.
 *
 * Numbers are returned as texts, since Redis would cut them to whole numbers of 64 bits and Lua would write large ones with an
 * exponent. Keys expire by a duration and not at a time, so that virtual time works.
 */
import { define } from "./script.ts"

/** The script of `Counter.take`: returns the time, the period, the counter and the number of accepted takes. */
export const takeFromCounter = define(`
  local length, cost, limit, takes = number(2), number(3), number(4), number(5)
  local period, used = counter(KEYS[1], math.floor(now / length))
  local granted = fitting(used, cost, limit, takes)
  if granted * cost > 0 then
    used = used + granted * cost
    keepCounter(KEYS[1], period, used, length)
  end
  return { text(now), text(period), text(used), text(granted) }
`)

/** Reads a counter: returns the time, the period and the counter. */
export const readCounter = define(`
  local period, used = counter(KEYS[1], math.floor(now / number(2)))
  return { text(now), text(period), text(used) }
`)

/** The script of `Counter.add`. An amount of an earlier period than that of the counter has no effect. */
export const addToCounter = define(`
  local length, of, amount = number(2), number(3), number(4)
  local period, used = counter(KEYS[1], of)
  if period == of then keepCounter(KEYS[1], period, math.max(used + amount, 0), length) end
  return {}
`)

/** The script of `Windows.take`: returns the time, the number of accepted takes, the period, and the counts. */
export const takeFromWindow = define(`
  local length, parts, cost, limit, takes = number(2), number(3), number(4), number(5), number(6)
  local period, counts = window(KEYS[1], length, parts)
  local used = 0
  for _, count in ipairs(counts) do used = used + count end
  local granted = fitting(used, cost, limit, takes)
  if granted * cost > 0 then
    counts[#counts] = counts[#counts] + granted * cost
    keepWindow(KEYS[1], length, parts, period, counts)
  end
  return { text(now), text(granted), text(period), joined(counts) }
`)

/** Reads a window: returns the time, the period, and the counts. */
export const readWindow = define(`
  local period, counts = window(KEYS[1], number(2), number(3))
  return { text(now), text(period), joined(counts) }
`)

/** The script of `Windows.add`. */
export const addToWindow = define(`
  local of, amount = number(2), number(3)
  local stored = redis.call('HMGET', KEYS[1], 'period', 'counts')
  if stored[1] and tonumber(stored[1]) == of then
    redis.call('HSET', KEYS[1], 'counts', text(math.max(tonumber(stored[2]) + amount, 0)))
  end
  return {}
`)

/** The script of `Buckets.take`: returns the time, the number of accepted takes, and the bucket. */
export const takeFromBucket = define(`
  local length, cost, limit, takes = number(2), number(3), number(4), number(5)
  local missing, filledAt = bucket(KEYS[1])
  local at = math.max(now, filledAt)
  missing = math.max(missing - (at - filledAt) * limit, 0)
  local granted = fitting(math.ceil(missing / length), cost, limit, takes)
  missing = missing + granted * cost * length
  if missing == 0 then
    redis.call('DEL', KEYS[1])
  else
    redis.call('HSET', KEYS[1], 'missing', text(missing), 'filledAt', text(at))
    redis.call('PEXPIRE', KEYS[1], text((math.floor(at / length) + 2) * length - now))
  end
  return { text(now), text(granted), text(missing), text(at) }
`)

/** Reads a stored bucket: returns the time and the bucket. */
export const readBucket = define(`
  local missing, filledAt = bucket(KEYS[1])
  return { text(now), text(missing), text(filledAt) }
`)

/** The script of `Lease.acquire`: returns 1 if the lease is stored, or 0. A client that reconnects may send it twice. */
export const acquireLease = define(`
  local lasts, max = number(2), number(3)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
  if redis.call('ZSCORE', KEYS[1], ARGV[4]) then return { '1' } end
  if redis.call('ZCARD', KEYS[1]) >= max then return { '0' } end
  keepLease(KEYS[1], lasts, ARGV[4])
  return { '1' }
`)

/** Extends a lease, or stores it again. */
export const renewLease = define(`
  keepLease(KEYS[1], number(2), ARGV[3])
  return {}
`)

/** Deletes a lease. */
export const releaseLease = define(`
  redis.call('ZREM', KEYS[1], ARGV[2])
  return {}
`)

/** Returns the number of live leases. */
export const countLeases = define(`
  return { text(redis.call('ZCOUNT', KEYS[1], '(' .. text(now), '+inf')) }
`)

/** Deletes a key: returns the number of leases, or 1 for a counter that is stored, or 0. */
export const forget = define(`
  local count = redis.call('TYPE', KEYS[1]).ok == 'zset' and redis.call('ZCARD', KEYS[1]) or redis.call('EXISTS', KEYS[1])
  redis.call('DEL', KEYS[1])
  return { text(count) }
`)
