# Reads a job a line, requests its pages with the client that the first argument names, and writes a line for each job.
use strict;
use warnings;
use JSON::PP;

$| = 1;
while (my $line = <STDIN>) {
    my $job = decode_json($line);
    my @headers = map { @$_ } @{ $job->{headers} };
    my $get;
    if ($ARGV[0] eq 'lwp') {
        require LWP::UserAgent;
        my $agent = LWP::UserAgent->new(keep_alive => 1);
        $get = sub { $agent->get($_[0], @headers) };
    } else {
        require HTTP::Tiny;
        my $agent = HTTP::Tiny->new(verify_SSL => 1, SSL_options => { SSL_ca_file => $job->{ca} });
        $get = sub { $agent->get($_[0], { headers => {@headers} }) };
    }
    $get->("$job->{base}/page/$_") for 1 .. $job->{count};
    print "done\n";
}
