<?php
// Reads a job a line, requests its pages with the client that the first argument names, and writes a line for each job.
function lines(array $job): array
{
    return array_map(fn($header) => "$header[0]: $header[1]", $job['headers']);
}

function stream(array $job): void
{
    $http = ['ignore_errors' => true, 'header' => lines($job)];
    $context = stream_context_create(['http' => $http, 'ssl' => ['cafile' => $job['ca']]]);
    for ($number = 1; $number <= $job['count']; $number++) {
        file_get_contents("$job[base]/page/$number", false, $context);
    }
}

function curl(array $job): void
{
    $curl = curl_init();
    curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_CAINFO => $job['ca'], CURLOPT_HTTPHEADER => lines($job)]);
    for ($number = 1; $number <= $job['count']; $number++) {
        curl_setopt($curl, CURLOPT_URL, "$job[base]/page/$number");
        if (curl_exec($curl) === false) {
            throw new Exception(curl_error($curl));
        }
    }
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $argv[1](json_decode($line, true));
        echo "done\n";
    } catch (Throwable $error) {
        echo $error->getMessage(), "\n";
    }
}
