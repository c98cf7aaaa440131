/** Makes scripts of Redis. */
import * as Redis from "effect/persistence/Redis"

/** Parameters of every script: the key, and the time instead of that of Redis, in milliseconds, or an empty text. */
export interface Call {
  readonly key: string
  readonly time: string
}

/** A script. It receives the key as `KEYS[1]`, and its numbers and texts from `ARGV[2]` on. */
export type Script = ReturnType<typeof define>

/** Makes a script of one key that returns a list of numbers as texts. Its body can use the functions of `prelude`. */
export const define = (body: string) =>
  Redis.script(
    ({ key, time }: Call, ...rest: ReadonlyArray<number | string>) => [key, time, ...rest],
    { lua: `${prelude}\n${body}`, numberOfKeys: 1 }
  ).withReturnType<ReadonlyArray<string>>()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Functions of all scripts. `now` is in whole milliseconds. */
const prelude = `
  local function number(index) return tonumber(ARGV[index]) end
  local function text(value) return string.format('%.0f', value) end

  local now
  if ARGV[1] == '' then
    local time = redis.call('TIME')
    now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  else
    now = math.floor(number(1))
  end

  local function fitting(used, cost, limit, takes)
    if used + cost > limit then return 0 end
    if cost == 0 then return takes end
    return math.min(takes, math.floor((limit - used) / cost))
  end

  local function counter(key, period)
    local stored = redis.call('HMGET', key, 'period', 'used')
    if stored[1] and tonumber(stored[1]) >= period then return tonumber(stored[1]), tonumber(stored[2]) end
    return period, 0
  end

  local function keepCounter(key, period, used, length)
    redis.call('HSET', key, 'period', text(period), 'used', text(used))
    redis.call('PEXPIRE', key, text(math.max((period + 2) * length - now, 1)))
  end

  local function joined(counts)
    local texts = {}
    for index, count in ipairs(counts) do texts[index] = text(count) end
    return table.concat(texts, ',')
  end

  local function window(key, length, parts)
    local period = math.floor(now * parts / length)
    local size = parts == 1 and 1 or parts + 1
    local stored = redis.call('HMGET', key, 'period', 'counts')
    local counts, past = {}, size
    if stored[1] then
      past = math.min(math.max(period - tonumber(stored[1]), 0), size)
      period = math.max(period, tonumber(stored[1]))
      local index = 0
      for count in string.gmatch(stored[2], '%d+') do
        index = index + 1
        if index > past then counts[#counts + 1] = tonumber(count) end
      end
    end
    while #counts < size do counts[#counts + 1] = 0 end
    return period, counts
  end

  local function keepWindow(key, length, parts, period, counts)
    redis.call('HSET', key, 'period', text(period), 'counts', joined(counts))
    local expiresAt = (math.floor(period / parts) + (parts == 1 and 1 or 2)) * length
    redis.call('PEXPIRE', key, text(math.max(expiresAt - now, 1)))
  end

  local function bucket(key)
    local stored = redis.call('HMGET', key, 'missing', 'filledAt')
    if stored[1] then return tonumber(stored[1]), tonumber(stored[2]) end
    return 0, now
  end

  local function keepLease(key, lasts, id)
    redis.call('ZADD', key, text(now + lasts), id)
    local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
    redis.call('PEXPIRE', key, text(tonumber(last[2]) - now))
  end
`
