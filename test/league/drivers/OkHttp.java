import java.io.*;
import okhttp3.*;

/** Reads a job a line (base, count, then name and value of each header, separated by tabs), and requests its pages. */
public class OkHttp {
  static void run(String[] job) throws Exception {
    OkHttpClient client = new OkHttpClient();
    for (int number = 1; number <= Integer.parseInt(job[1]); number++) {
      Request.Builder request = new Request.Builder().url(job[0] + "/page/" + number);
      for (int at = 2; at + 1 < job.length; at += 2) request.header(job[at], job[at + 1]);
      try (Response response = client.newCall(request.build()).execute()) {
        response.body().bytes();
      }
    }
    client.connectionPool().evictAll();
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
    System.exit(0);
  }
}
