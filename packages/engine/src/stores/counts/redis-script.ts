/** Gives back costs, as `giveBack` of the core does; each key ends when it would have. KEYS: one for each. ARGV: their costs. */
export const GIVE_BACK = `
for index, key in ipairs(KEYS) do
  local kept = redis.call('HMGET', key, 'u', 'b')
  if kept[1] then
    local used, cost = tonumber(kept[1]), tonumber(ARGV[index])
    local before = math.max(0, tonumber(kept[2]) - math.max(0, cost - used))
    redis.call('HSET', key, 'u', string.format('%.17g', math.max(0, used - cost)), 'b', string.format('%.17g', before))
  end
end
`

/**
 * Takes the tasks of one request in order, ends at the first binding one that is exceeded, and answers with three numbers for
 * each: allowed, used, milliseconds until it falls. The same steps as `takeStep` of the core. The server's clock counts,
 * unless a test names another. KEYS: the secret's, then one for each task. ARGV: mark of the secret, clock or '', flight,
 * lease, then for each task kind, cost, max, window, refill, binding.
 */
export const TAKE = `
local secret = redis.call('GET', KEYS[1])
if not secret or redis.sha1hex(secret) ~= ARGV[1] then return redis.error_reply('SECRET') end
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local answer = {}

local function said(allowed, used, reset)
  answer[#answer + 1] = allowed and 1 or 0
  answer[#answer + 1] = math.ceil(used - 1e-9)
  answer[#answer + 1] = math.ceil(reset - 1e-9)
end

local function row(key)
  local kept = redis.call('HMGET', key, 'u', 'b', 'a')
  if not kept[3] then return nil end
  return { used = tonumber(kept[1]), before = tonumber(kept[2]), at = tonumber(kept[3]) }
end

local function put(key, used, before, at, endsAt)
  redis.call('HSET', key, 'u', string.format('%.17g', used), 'b', string.format('%.17g', before), 'a', string.format('%.0f', at))
  redis.call('PEXPIREAT', key, string.format('%.0f', endsAt))
end

local function rewound(kept, stands)
  return kept and kept.at - now > stands and kept.at - now <= 86400000
end

local take = {}

function take.fixed(key, cost, max, window)
  local kept = row(key)
  local used, at = 0, now + window
  local back = rewound(kept, 2 * window)
  if kept and kept.at > now and kept.at - now <= 2 * window then used, at = kept.used, kept.at end
  if back then used = kept.used end
  local allowed = used + cost <= max
  if allowed then used = used + cost end
  if (allowed and cost > 0) or back then put(key, used, 0, at, at) end
  said(allowed, used, math.min(window, at - now))
  return allowed
end

function take.sliding(key, cost, max, window)
  local kept = row(key)
  local time = now
  local at = time - time % window
  local used, before = 0, 0
  local back = rewound(kept, window)
  if back then
    used, before = kept.used, kept.before
  elseif kept and kept.at <= time + window and kept.at + window >= at then
    if kept.at >= at then used, before, at = kept.used, kept.before, kept.at else before = kept.used end
  end
  if at > time then time = at end
  local weighted = before * (1 - (time - at) / window) + used
  local allowed = weighted + cost <= max + 1e-9
  local reset
  if allowed then
    used = used + cost
    weighted = weighted + cost
    if cost > 0 or back then put(key, used, before, at, at + 2 * window) end
    reset = at + window - time
  else
    local fits = max - cost
    if back then put(key, used, before, at, at + 2 * window) end
    if fits >= used and before > 0 then reset = math.ceil(window * (1 - (fits - used) / before))
    elseif used > 0 then reset = window + math.ceil(window * math.max(0, 1 - math.max(0, fits) / used))
    else reset = window end
    reset = reset - (time - at)
  end
  said(allowed, weighted, reset)
  return allowed
end

function take.bucket(key, cost, max, window, refill)
  local kept = row(key)
  local used, at = 0, now
  local back = rewound(kept, window)
  if kept and kept.at - now <= window then used, at = kept.used, kept.at end
  if back then used = kept.used end
  local time = math.max(now, at)
  local rate = refill / window
  local level = math.max(0, used - (time - at) * rate)
  local allowed = level + cost <= max + 1e-9
  if allowed then
    level = level + cost
    if cost > 0 or back then put(key, level, 0, time, time + math.ceil(level / rate)) end
    said(true, level, level / rate)
  else
    if back then put(key, level, 0, time, time + math.ceil(level / rate)) end
    said(false, level, (level + math.min(cost, max) - max) / rate)
  end
  return allowed
end

function take.flights(key, cost, max)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  -- A clock that went back would else keep what a process that died had in flight: the living renew theirs.
  local leased = string.format('%.0f', now + ARGV[4])
  for _, flight in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. leased, '+inf')) do
    redis.call('ZADD', key, leased, flight)
  end
  local there = redis.call('ZCARD', key)
  local allowed = there < max
  if allowed then
    there = there + 1
    redis.call('ZADD', key, leased, ARGV[3])
    redis.call('PEXPIRE', key, ARGV[4])
  end
  said(allowed, there, 1000)
  return allowed
end

for index = 2, #KEYS do
  local first = 5 + (index - 2) * 6
  local number = function(place) return tonumber(ARGV[first + place]) end
  local allowed = take[ARGV[first]](KEYS[index], number(1), number(2), number(3), number(4))
  if not allowed and ARGV[first + 5] == '1' then break end
end
return answer
`
