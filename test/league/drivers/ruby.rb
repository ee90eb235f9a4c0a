# Reads a job a line, requests its pages with net/http, and writes a line for each job.
require 'json'
require 'net/http'

def run(job)
  uri = URI(job['base'])
  Net::HTTP.start(uri.host, uri.port, use_ssl: true, ca_file: job['ca']) do |http|
    (1..job['count']).each { |number| http.get("/page/#{number}", job['headers'].to_h) }
  end
end

$stdout.sync = true
while (line = $stdin.gets)
  begin
    run(JSON.parse(line))
    puts 'done'
  rescue StandardError => e
    puts "#{e.class}: #{e.message}".tr("\n", ' ')
  end
end
