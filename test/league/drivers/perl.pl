# Reads a job a line, requests its pages with LWP, and writes a line for each job.
use strict;
use warnings;
use JSON::PP;
use LWP::UserAgent;

$| = 1;
while (my $line = <STDIN>) {
    my $job = decode_json($line);
    my $agent = LWP::UserAgent->new(keep_alive => 1);
    $agent->get("$job->{base}/page/$_", map { @$_ } @{ $job->{headers} }) for 1 .. $job->{count};
    print "done\n";
}
