-- Counts the running tasks of workers.

function F.runningAt(worker, change)
  runningChange[worker] = (runningChange[worker] or 0) + change
end

function F.saveRunning()
  for worker, change in pairs(runningChange) do
    local key = K.worker(worker)
    if change ~= 0 and redis.call('HEXISTS', key, 't') == 1 then
      redis.call('HINCRBY', key, 'k', change)
    end
  end
end
