import java.io.*;
import java.net.*;
import java.net.http.*;
import java.util.*;

/** Reads a job a line (base, count, then name and value of each header, separated by tabs), and requests its pages. */
public class Client {
  /** Java adds these itself. */
  static final Set<String> OWN = Set.of("connection", "host");

  static void run(String[] job) throws Exception {
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    for (int number = 1; number <= Integer.parseInt(job[1]); number++) {
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(job[0] + "/page/" + number));
      for (int at = 2; at + 1 < job.length; at += 2) {
        if (!OWN.contains(job[at].toLowerCase())) request.header(job[at], job[at + 1]);
      }
      client.send(request.build(), HttpResponse.BodyHandlers.discarding());
    }
  }

  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      try {
        run(line.split("\t"));
        System.out.println("done");
      } catch (Exception error) {
        System.out.println(error);
      }
    }
  }
}
